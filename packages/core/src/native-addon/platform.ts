/** Names this process's platform as the npm packages do: operating system, processor and C library, as in `linux-x64-gnu`. */
export function currentPlatform(): string {
  const libc = process.platform === "linux" ? (usesGlibc() ? "-gnu" : "-musl") : "";
  return `${process.platform}-${process.arch}${libc}`;
}

/** The packages of a platform that carry an engine, the one to prefer first: it has the GPUs' beside the CPU's. */
export function platformPackages(platform: string): readonly string[] {
  return [`@dfccl/native-${platform}-cuda`, `@dfccl/native-${platform}`];
}

function usesGlibc(): boolean {
  // The report lists network interfaces too, and asking for their names can take seconds.
  const reporting = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean };
  const before = reporting.excludeNetwork;
  reporting.excludeNetwork = true;
  try {
    const { header } = reporting.getReport() as { header?: { glibcVersionRuntime?: string } };
    return header?.glibcVersionRuntime !== undefined;
  } finally {
    reporting.excludeNetwork = before ?? false;
  }
}
