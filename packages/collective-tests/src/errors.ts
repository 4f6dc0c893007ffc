import { DfcclError } from "@dfccl/primitives";
import { type ExitCode, exitCodes } from "./exit-code.js";

export type PerfProblem =
  | "BAD_ARGUMENT"
  | "BAD_REPORT" // a file that is no result of these programs
  | "NO_OUTPUT" // the result could not be kept
  | "BACKEND_MISSING"
  | "NOT_FOR_THIS_BACKEND"
  | "TOO_FEW_DEVICES"
  | "TIMED_OUT"
  | "RANK_DIED"
  | "BACKEND_FAILED";

const exits: Readonly<Record<PerfProblem, ExitCode>> = {
  BAD_ARGUMENT: exitCodes.badArguments,
  BAD_REPORT: exitCodes.badArguments,
  NO_OUTPUT: exitCodes.internal,
  BACKEND_MISSING: exitCodes.notImplemented,
  NOT_FOR_THIS_BACKEND: exitCodes.notImplemented,
  TOO_FEW_DEVICES: exitCodes.notImplemented,
  TIMED_OUT: exitCodes.timeout,
  RANK_DIED: exitCodes.internal,
  BACKEND_FAILED: exitCodes.internal,
};

/** Why a collective test can't run, or stopped: with the exit code that nccl-tests would have ended with. */
export class PerfError extends DfcclError {
  override readonly code: PerfProblem;
  readonly exitCode: number;

  /** @param exitCode - instead of the one that belongs to the problem. */
  constructor(problem: PerfProblem, what: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}, exitCode?: number) {
    super(what, { facts, remedy });
    this.code = problem;
    this.exitCode = exitCode ?? exits[problem];
  }
}
