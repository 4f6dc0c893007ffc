import { checkList, checkNumber, checkObject, readPlain } from "@dfccl/primitives";
import type { JsonIterations, JsonResult, JsonSide } from "../json/report.js";
import { ratioOfMedians } from "./interval.js";
import type { ReadReport } from "./read-report.js";

export type ComparisonVerdict =
  | "same"
  | "slower"
  | "faster"
  | "unsure" // too few samples for an interval
  | "wrong" // B's result has wrong elements, A's had not
  | "gone"; // A measured it, B didn't

export interface ComparedRow {
  readonly backend: string;
  readonly size: number;
  readonly type: string;
  readonly redop: string;
  readonly root: string;
  readonly place: "out of place" | "in place";
  /** Medians, microseconds. */
  readonly aUs: number;
  readonly bUs: number;
  /** B's time over A's. */
  readonly ratio: number;
  /** Its 95% confidence interval. */
  readonly interval: readonly [low: number, high: number] | undefined;
  readonly verdict: ComparisonVerdict;
}

interface Samples {
  readonly row: Pick<ComparedRow, "backend" | "size" | "type" | "redop" | "root" | "place">;
  readonly times: number[];
  wrong: number;
}

/**
 * Compares two runs case by case. A case's samples are the times of its iterations (-I 1), or else those of its cycles (-N).
 * @param tolerance - a difference of so much either way is none: 0.05 is 5%.
 */
export function compareReports(a: ReadReport, b: ReadReport, tolerance: number): ComparedRow[] {
  const [before, after] = [samplesOf(checked("a", a)), samplesOf(checked("b", b))];
  checkNumber("tolerance", tolerance);
  return [...before].map(([key, { row, times, wrong }]) => {
    const other = after.get(key);
    const [aUs, bUs] = [median(times), median(other?.times ?? [])];
    const interval = other && ratioOfMedians(times, other.times);
    const facts = { ...row, aUs, bUs, ratio: bUs / aUs, interval: interval && ([interval.low, interval.high] as const) };
    if (other === undefined) return { ...facts, verdict: "gone" };
    if (other.wrong > 0 && wrong === 0) return { ...facts, verdict: "wrong" };
    if (interval === undefined) return { ...facts, verdict: "unsure" };
    if (interval.low > 1 + tolerance) return { ...facts, verdict: "slower" };
    return { ...facts, verdict: interval.high < 1 / (1 + tolerance) ? "faster" : "same" };
  });
}

/** Whether a run is worse than the one before: what CI has to know. */
export function isRegression(row: ComparedRow): boolean {
  checkObject("row", row, "one of what compareReports() returns");
  const { verdict } = readPlain("row", row);
  return verdict === "slower" || verdict === "wrong" || verdict === "gone";
}

function checked(name: string, given: ReadReport): ReadReport {
  const expected = "what readReport() returns";
  checkObject(name, given, expected);
  const report = readPlain(name, given);
  checkList(`${name}.results`, report.results, expected);
  report.results.forEach((result, i) => void checkObject(`${name}.results[${i}]`, result, expected));
  return report;
}

function samplesOf(report: ReadReport): Map<string, Samples> {
  const all = new Map<string, Samples>();
  const add = (result: JsonResult, place: ComparedRow["place"], side: JsonSide | null, iterations: JsonIterations | undefined): void => {
    if (!side) return;
    const backend = result.backend ?? report.dfccl?.backends[0]?.name ?? "nccl";
    const row = { backend, size: result.size, type: result.type, redop: result.redop, root: result.root.trim(), place };
    const key = Object.values(row).join(" ");
    const samples = all.get(key) ?? { row, times: [], wrong: 0 };
    samples.times.push(...(iterations?.times_us ?? [side.time ?? side.cpu_time ?? Number.NaN]));
    samples.wrong += side.nwrong ?? 0;
    all.set(key, samples);
  };
  for (const result of report.results) {
    add(result, "out of place", result.out_of_place, result.out_of_place_per_iter);
    add(result, "in place", result.in_place, result.in_place_per_iter);
  }
  return all;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((x, y) => x - y);
  return ((sorted[sorted.length >> 1] ?? Number.NaN) + (sorted[(sorted.length - 1) >> 1] ?? Number.NaN)) / 2;
}
