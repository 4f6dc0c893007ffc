import { checkList, checkNumber, readPlain } from "@dfccl/primitives";

/** Figures over the iterations of one measurement, microseconds. */
export interface IterationStatistics {
  readonly min: number;
  readonly max: number;
  readonly avg: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Of the whole population. */
  readonly stdev: number;
  /** Percent of the mean. */
  readonly cv: number;
}

/** As nccl-tests defines them: percentiles by nearest rank. undefined of none. */
export function iterationStatistics(times: readonly number[]): IterationStatistics | undefined {
  const sorted = readTimes("times", times).toSorted((a, b) => a - b);
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (min === undefined || max === undefined) return undefined;
  const n = sorted.length;
  const percentile = (percent: number): number => sorted[Math.min(n - 1, Math.floor((n * percent + 99) / 100) - 1)] ?? max;
  const avg = sorted.reduce((sum, time) => sum + time, 0) / n;
  const stdev = Math.sqrt(sorted.reduce((sum, time) => sum + (time - avg) ** 2, 0) / n);
  const p50 = sorted[Math.floor(n / 2)] ?? max;
  return { min, max, avg, p50, p95: percentile(95), p99: percentile(99), stdev, cv: avg > 0 ? (stdev / avg) * 100 : 0 };
}

/** @returns a copy. @throws {InvalidArgumentError} */
export function readTimes(argument: string, given: readonly number[]): readonly number[] {
  checkList(argument, given, "a list of microseconds");
  const times = readPlain(argument, given);
  for (const time of times) checkNumber(`a time of ${argument}`, time);
  return times;
}
