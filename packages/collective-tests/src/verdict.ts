import { bandwidthOf } from "./collectives.js";
import { type ExitCode, exitCodes } from "./exit-code.js";
import { type PerfRun, ranksOf } from "./options.js";
import { isMeasured, type MeasuredRow } from "./results.js";
import type { Verdict } from "./text/layout.js";

/** What the rows come to, all backends and both sides alike. */
export function verdictOf(rows: readonly MeasuredRow[], { collective, options }: PerfRun, minBandwidth: number | undefined): Verdict {
  let wrong = 0;
  let [sum, sides] = [0, 0];
  for (const row of rows) {
    for (const side of [row.outOfPlace, row.inPlace]) {
      if (!isMeasured(side)) continue;
      wrong += side.wrong ?? 0;
      sum += bandwidthOf(collective, row.case, ranksOf(options), options.report_cputime ? side.cpuUs : side.us).bus;
      sides += 1;
    }
  }
  const averageBusBandwidth = sum / sides;
  return {
    wrong,
    averageBusBandwidth,
    isFastEnough: minBandwidth === undefined ? undefined : averageBusBandwidth >= 0.9 * minBandwidth,
  };
}

export function exitCodeOf({ wrong, isFastEnough }: Verdict): ExitCode {
  return wrong > 0 || isFastEnough === false ? exitCodes.failed : exitCodes.ok;
}
