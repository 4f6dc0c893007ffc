/** Rows of a name and a value, or of several cells: columns that line up, numbers to the right. */
export function formatTable(rows: readonly (readonly string[])[], header?: readonly string[]): string {
  const all = header ? [header, ...rows] : rows;
  const widths = all.reduce<number[]>((most, row) => row.map((cell, i) => Math.max(most[i] ?? 0, cell.length)), []);
  const lines = all.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "));
  if (header) lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  return lines.map((line) => `  ${line.trimEnd()}`).join("\n");
}

export function formatCount(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** "1 rank", "1,200 ranks". */
export function formatCountOf(value: number, one: string): string {
  return `${formatCount(value)} ${one}${value === 1 ? "" : "s"}`;
}

/** Three significant digits and a unit, from seconds. */
export function formatSeconds(seconds: number): string {
  if (Number.isNaN(seconds)) return "–";
  if (seconds >= 1) return `${seconds.toPrecision(3)} s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return `${(seconds * 1e6).toPrecision(3)} µs`;
}

/** Three significant digits where the value isn't whole: "97.5 MiB", "64 MiB", "8 B". */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${Number.isInteger(value) ? value : value.toPrecision(3)} ${units[unit]}`;
}
