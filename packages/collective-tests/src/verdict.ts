import { bandwidthOf } from "./collectives.js";
import { type ExitCode, exitCodes } from "./exit-code.js";
import { type BackendName, type PerfRun, ranksOf } from "./options.js";
import { isMeasured, type Measured, type MeasuredRow } from "./results.js";
import type { Verdict } from "./text/layout.js";

/** What the rows come to, both sides alike. What is demanded is demanded of the first backend: the others are what it is compared with. */
export function verdictOf(rows: readonly MeasuredRow[], run: PerfRun, minBandwidth: number | undefined): Verdict {
  const averages = run.options.backend.map((backend) => ({ backend, gigabytes: averageBusBandwidth(rows, run, backend) }));
  const [first] = averages;
  return {
    wrong: rows.flatMap(sidesOf).reduce((sum, { wrong }) => sum + (wrong ?? 0), 0),
    averages,
    isFastEnough: minBandwidth === undefined ? undefined : first !== undefined && first.gigabytes >= 0.9 * minBandwidth,
  };
}

/** NaN where the backend has measured nothing. */
function averageBusBandwidth(rows: readonly MeasuredRow[], { collective, options }: PerfRun, backend: BackendName): number {
  const bandwidths = rows
    .filter((row) => row.backend === backend)
    .flatMap((row) =>
      sidesOf(row).map(({ us, cpuUs }) => bandwidthOf(collective, row.case, ranksOf(options), options.report_cputime ? cpuUs : us).bus),
    );
  return bandwidths.reduce((sum, bandwidth) => sum + bandwidth, 0) / bandwidths.length;
}

function sidesOf({ outOfPlace, inPlace }: MeasuredRow): Measured[] {
  return [outOfPlace, inPlace].filter(isMeasured);
}

export function exitCodeOf({ wrong, isFastEnough }: Verdict): ExitCode {
  return wrong > 0 || isFastEnough === false ? exitCodes.failed : exitCodes.ok;
}
