import { DfcclError } from "@dfccl/primitives";

/** Why a benchmark can't run. */
export type BenchProblem =
  | "NO_SOURCES" // installed from a registry, without the native benchmarks
  | "NO_CMAKE"
  | "NO_OPENMPI"
  | "NO_OUTPUT" // the result could not be kept
  | "BUILD_FAILED"
  | "PROGRAM_FAILED"
  | "WRONG_RESULTS";

/** A benchmark can't run, or measured something that is wrong. `facts` hold the command and what it printed, where there is one. */
export class BenchError extends DfcclError {
  override readonly code: BenchProblem;

  constructor(problem: BenchProblem, what: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(what, { facts, remedy, cause });
    this.code = problem;
  }
}
