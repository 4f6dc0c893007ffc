/** A table for docs/benchmarks/: the first column to the left, numbers to the right. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map((_, column) => (column === 0 ? ":--" : "--:"))), ...rows.map(line)].join("\n");
}
