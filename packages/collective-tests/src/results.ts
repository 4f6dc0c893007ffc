import { checkObject, readArgument } from "@dfccl/primitives";
import type { BackendName } from "./options.js";
import type { OpName, TypeName } from "./type-names.js";

/** One measurement to make. */
export interface PerfCase {
  /** Elements that the collective's call is given. */
  readonly count: number;
  /** As printed. */
  readonly bytes: number;
  readonly movedBytes: number;
  readonly type: TypeName;
  /** "none" where data only moves. */
  readonly op: OpName | "none";
  /** -1 where there is none. */
  readonly root: number;
  /** Instead of --iters. */
  readonly iterations?: number;
  /** Which of the programs that the backend was given, from 1. Default: what the library chooses. */
  readonly program?: number;
}

/** What a preemptive engine counted while one measurement was timed, sums over its ranks. */
export interface PerfCounters {
  readonly preemptions: number;
  readonly quits: number;
  readonly visits: number;
  readonly stuckVisits: number;
  /** Divided by visits: the task queue's mean length. */
  readonly queueLengthSum: number;
  readonly queueLengthMaximum: number;
  /** Of all registrations, now. */
  readonly memoryBytes: number;
}

/** One side of a row, as a backend measured it. */
export interface Measured {
  /** Time an operation takes, microseconds. */
  readonly us: number;
  /** Time to submit it. */
  readonly cpuUs: number;
  /** Elements with any wrong bit; null where it isn't checked. */
  readonly wrong: number | null;
  readonly counters?: PerfCounters;
  /** Of each iteration, where asked for. */
  readonly timesUs?: readonly number[];
}

/** Why a backend doesn't run this side of a row. */
export interface Refused {
  readonly refusal: string;
}

export type Side = Measured | Refused;

export interface MeasuredRow {
  readonly backend: BackendName;
  readonly case: PerfCase;
  readonly outOfPlace: Side;
  readonly inPlace: Side;
  /** When it was measured. */
  readonly at: Date;
}

export function isMeasured(side: Side): side is Measured {
  const expected = "what was measured, or why it wasn't";
  checkObject("side", side, expected);
  return readArgument("side", expected, () => "us" in side);
}

/** A rank as the header shows it. */
export interface PerfDevice {
  readonly rank: number;
  readonly group: number;
  readonly pid: number;
  readonly hostname: string;
  readonly device: number;
  /** dddd:bb:dd */
  readonly bus: string;
  readonly name: string;
}
