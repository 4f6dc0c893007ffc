import { out } from "../terminal/colors.js";
import { watchForInterruption } from "../terminal/interruption.js";
import { type ReportFlags, sayer } from "./write-reports.js";

export interface MeasurementTools {
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
  /** Prints lines for people, unless standard output is to hold JSON. */
  readonly say: (text: string) => void;
}

/**
 * Runs a measurement to its end, or to an interruption.
 * @param partial - what was measured until then, as text: minutes of measuring are not thrown away; undefined for nothing.
 * @returns the exit code.
 */
export async function runMeasurement(
  flags: ReportFlags,
  measure: (tools: MeasurementTools) => Promise<void>,
  partial: () => string | undefined = () => undefined,
): Promise<number> {
  using interruption = watchForInterruption();
  const { signal } = interruption;
  const say = sayer(flags);
  try {
    await measure({ signal, say });
    return 0;
  } catch (error) {
    const measured = partial();
    if (measured !== undefined) say(`${measured}\n`);
    if (!signal.aborted) throw error;
    say(out.red(`Interrupted: ${measured === undefined ? "" : "a partial result, and "}no file is written.`));
    return interruption.exitCode() ?? 1;
  }
}
