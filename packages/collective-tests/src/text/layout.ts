import type { Bandwidth } from "../collectives.js";
import type { BackendName, PerfOptions } from "../options.js";
import { isMeasured, type PerfCase, type PerfDevice, type Side } from "../results.js";
import { iterationStatistics } from "../statistics.js";
import { fitNumber, general } from "./number.js";

/** The interface's version: what scripts look for. */
export const referenceVersion = "2.19.6";

const left = (text: string, width: number): string => text.padStart(width);

/** The first lines of a run, up to the ranks. */
export function headerLines(program: string, options: PerfOptions): string[] {
  const { stepfactor, stepbytes } = options;
  const step = stepfactor > 1 ? `${stepfactor}(factor)` : `${stepbytes}(bytes)`;
  return [
    `# nccl-tests version ${referenceVersion} nccl-headers=0 nccl-library=0`,
    `# Collective test starting: ${program}`,
    `# nThread ${options.nthreads} nGpus ${options.ngpus} minBytes ${options.minbytes} maxBytes ${options.maxbytes} step: ${step} ` +
      `warmup iters: ${options.warmup_iters} iters: ${options.iters} agg iters: ${options.agg_iters} validation: ${options.check} ` +
      `graph: ${options.cudagraph} unalign: ${options.unalign}`,
    ...(options.blocking === 1 ? ["# Blocking Enabled: wait for completion and barrier after each collective "] : []),
    ...(options.blocking > 1 ? ["# Blocking Enabled: wait for completion after each collective (no barrier) "] : []),
    ...(options.per_iter_timing ? ["# Per-Iteration Report: every iteration is waited for and timed by itself"] : []),
    ...(options.parallel_init ? ["# Parallel Init Enabled: threads call into NcclInitRank concurrently "] : []),
    "#",
    "# Using devices",
  ];
}

export function deviceLine({ rank, group, pid, hostname, device, bus, name }: PerfDevice): string {
  return (
    `#  Rank ${left(String(rank), 2)} Group ${left(String(group), 2)} Pid ${left(String(pid), 6)} on ${left(hostname, 10)} ` +
    `device ${left(String(device), 2)} [${bus}] ${name}`
  );
}

const timestampWidth = 19;

/** The three lines above the rows of one backend. */
export function columnLines(options: PerfOptions): string[] {
  const time = options.report_cputime ? "cputime" : "time";
  const [label, format, pad] = options.report_timestamps ? ["timestamp", "%Y-%m-%d %H:%M:%S", timestampWidth] : ["", "", 0];
  const cells = (names: readonly string[]): string => names.map((name, i) => left(name, columnWidths[i] ?? 0)).join("  ");
  const start = (names: readonly string[]): string => `# ${cells(names)}`;
  const empty = start(["", "", "", "", ""]);
  const side = (names: readonly string[], figures: readonly string[]): string =>
    [...names.map((name, i) => left(name, i === 0 ? 7 : 6)), ...(options.per_iter_timing ? figures.map((name) => left(name, 7)) : [])].join(
      "  ",
    );
  const row = (first: readonly string[], names: readonly string[], figures: readonly string[], last: string): string =>
    `${start(first)}  ${side(names, figures)}  ${side(names, figures)} ${left(last, pad)}`;
  return [
    "#",
    options.per_iter_timing
      ? `${empty}              out-of-place (+ per-iteration)                                in-place (+ per-iteration)`
      : `${empty}           out-of-place                       in-place          `,
    row(["size", "count", "type", "redop", "root"], [time, "algbw", "busbw", "#wrong"], ["i_min", "i_max", "i_p99", "i_cv%"], label),
    row(["(B)", "(elements)", "", "", ""], ["(us)", "(GB/s)", "(GB/s)", ""], ["(us)", "(us)", "(us)", "(%)"], format),
  ];
}

const columnWidths = [10, 12, 8, 6, 6];

/** What a row begins with. */
export function caseText({ bytes, count, type, op, root }: PerfCase): string {
  return `${left(String(bytes), 12)}  ${left(String(count), 12)}  ${left(type, 8)}  ${left(op, 6)}  ${left(String(root), 6)}`;
}

/** One side of a row: time, bandwidths, wrong elements. */
export function sideText(side: Side, bandwidth: Bandwidth | undefined, options: PerfOptions): string {
  const perIteration = options.per_iter_timing !== 0;
  if (!isMeasured(side) || bandwidth === undefined) {
    const cells = ["    N/A", "   N/A", "   N/A", "   N/A", ...(perIteration ? Array.from({ length: 4 }, () => "    N/A") : [])];
    return cells.map((cell) => `  ${cell}`).join("");
  }
  const us = options.report_cputime ? side.cpuUs : side.us;
  const wrong = side.wrong === null ? "   N/A" : left(general(side.wrong), 6);
  const figures = `  ${fitNumber(us, 7)}  ${fitNumber(bandwidth.algorithm, 6)}  ${fitNumber(bandwidth.bus, 6)}  ${wrong}`;
  const statistics = perIteration ? iterationStatistics(side.timesUs ?? []) : undefined;
  if (statistics === undefined) return figures;
  const { min, max, p99, cv } = statistics;
  return figures + [min, max, p99, cv].map((value) => `  ${fitNumber(value, 7)}`).join("");
}

/** As strftime's %Y-%m-%d %H:%M:%S, local time. */
export function timeText(date: Date): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export interface Verdict {
  readonly wrong: number;
  /** Bus bandwidth over all rows and both sides, of each backend in its order. */
  readonly averages: readonly { readonly backend: BackendName; readonly gigabytes: number }[];
  /** undefined: nothing was demanded. */
  readonly isFastEnough: boolean | undefined;
}

export function footerLines(program: string, { wrong, averages, isFastEnough }: Verdict): string[] {
  const verdict = isFastEnough === undefined ? "" : isFastEnough ? "OK" : "FAILED";
  return [
    `# ${"Out of bounds values".padEnd(20)} : ${wrong} ${wrong > 0 ? "FAILED" : "OK"}`,
    ...averages.map(({ backend, gigabytes }, i) => {
      // nccl-tests' own line begins the same, for what reads it.
      const whose = averages.length > 1 ? ` ${backend}` : "";
      return `# ${"Avg bus bandwidth".padEnd(20)} : ${general(gigabytes)}${whose} ${i === 0 ? verdict : ""}`;
    }),
    "#",
    `# Collective test concluded: ${program}`,
    "",
    "#",
  ];
}
