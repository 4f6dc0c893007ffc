import { bandwidthOf } from "../collectives.js";
import { type PerfRun, ranksOf } from "../options.js";
import { isMeasured, type MeasuredRow, type Side } from "../results.js";
import { caseText, sideText, timeText } from "./layout.js";
import { fitNumber } from "./number.js";

const sideWidth = (isPerIteration: boolean): number => 31 + (isPerIteration ? 36 : 0);

/** Above the columns of several backends: which is whose. nccl-tests' own lines follow for the first. */
export function backendLine(run: PerfRun): string {
  const width = 2 * (sideWidth(run.options.per_iter_timing !== 0) + 2) - 2;
  const centred = (name: string): string => {
    const text = ` ${name} `;
    const before = Math.floor((width - text.length) / 2);
    return `${"-".repeat(before)}${text}${"-".repeat(width - text.length - before)}`;
  };
  const [first = "", ...others] = run.options.backend;
  const ratios = others.map((name) => `  ${`${first}:${name}`.padStart(9)}  ${`${first}:${name}`.padStart(9)}`).join("");
  return `# ${" ".repeat(50)}  ${run.options.backend.map(centred).join("  ")}${ratios}`;
}

/** The lines above the rows, the backends' columns beside each other and then how many times faster the first one is. */
export function widened(lines: readonly string[], run: PerfRun): string[] {
  const { backend, per_iter_timing } = run.options;
  const width = 2 * (sideWidth(per_iter_timing !== 0) + 2);
  return lines.map((line, i) => {
    if (line === "#") return line;
    const columns = line.slice(52, 52 + width).padEnd(width);
    const ratio = ["", "out-of-pl", "x faster"][i - 1] ?? "";
    const inRatio = ["", "in-place", "x faster"][i - 1] ?? "";
    const ratios = backend.slice(1).map(() => `  ${ratio.padStart(9)}  ${inRatio.padStart(9)}`);
    return `${line.slice(0, 52)}${columns.repeat(backend.length)}${ratios.join("")}`.trimEnd();
  });
}

/** A whole row: the same case on every backend. */
export function rowText(rows: readonly MeasuredRow[], run: PerfRun): string {
  const [first] = rows;
  if (first === undefined) return "";
  const { collective, options } = run;
  const time = (side: Side): number => (isMeasured(side) ? (options.report_cputime ? side.cpuUs : side.us) : Number.NaN);
  const text = (row: MeasuredRow): string =>
    [row.outOfPlace, row.inPlace]
      .map((side) =>
        sideText(side, isMeasured(side) ? bandwidthOf(collective, row.case, ranksOf(options), time(side)) : undefined, options),
      )
      .join("");
  const ratio = (other: Side, own: Side): string => {
    const value = time(other) / time(own);
    return `  ${Number.isNaN(value) ? "N/A".padStart(9) : fitNumber(value, 9)}`;
  };
  const ratios = rows.slice(1).map((row) => ratio(row.outOfPlace, first.outOfPlace) + ratio(row.inPlace, first.inPlace));
  const stamp = options.report_timestamps && !options.per_iter_timing ? timeText(first.at).padStart(21) : "";
  return `${caseText(first.case)}${rows.map(text).join("")}${ratios.join("")}${stamp}`;
}
