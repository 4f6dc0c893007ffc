import { runCommandLine } from "../../src/command-line.js";

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `dfccl` in this process: what starts no other ends in milliseconds, so that hundreds can be tried. */
export async function runInProcess(args: readonly string[]): Promise<Said> {
  const said = { stdout: "", stderr: "" };
  const before = { stdout: process.stdout.write, stderr: process.stderr.write, code: process.exitCode };
  for (const name of ["stdout", "stderr"] as const) {
    process[name].write = ((text: string | Uint8Array): boolean => {
      said[name] += String(text);
      return true;
    }) as typeof process.stdout.write;
  }
  process.exitCode = undefined;
  try {
    await runCommandLine(args);
    return { ...said, code: Number(process.exitCode ?? 0) };
  } finally {
    process.stdout.write = before.stdout;
    process.stderr.write = before.stderr;
    process.exitCode = before.code;
  }
}
