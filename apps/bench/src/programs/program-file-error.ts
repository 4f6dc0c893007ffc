import { DfcclError } from "@dfccl/primitives";

/** There is no program in a file. */
export class ProgramFileError extends DfcclError {
  override readonly code = "PROGRAM_FILE";

  constructor(path: string, what: string, remedy: string, cause?: unknown) {
    super(`${path}: ${what}.`, { facts: { path }, remedy, ...(cause === undefined ? {} : { cause }) });
  }
}
