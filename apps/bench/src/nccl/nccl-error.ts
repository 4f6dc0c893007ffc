import { DfcclError } from "@dfccl/primitives";

/** Why no program can be started with dfccl in NCCL's place. */
export type NcclProblem = "NO_NCCL_LIBRARY" | "NO_PROGRAM" | "NO_SUCH_LOADER";

export class NcclError extends DfcclError {
  override readonly code: NcclProblem;

  constructor(problem: NcclProblem, what: string, remedy: string, facts: Readonly<Record<string, unknown>>) {
    super(what, { facts, remedy });
    this.code = problem;
  }
}
