import { DfcclError, ProgramError } from "@dfccl/primitives";
import { shownPath } from "../inputs/read-text.js";

/** There is no program in a file. */
export class ProgramFileError extends DfcclError {
  override readonly code = "PROGRAM_FILE";

  constructor(path: string, what: string, remedy: string, cause?: unknown) {
    super(`${shownPath(path)}: ${what}.`, { facts: { path }, remedy, ...(cause === undefined ? {} : { cause }) });
  }
}

/** The program in a file is refused; `code` and `facts` are those of the refusal. */
class RefusedFileError extends DfcclError {
  override readonly code: string;

  constructor(path: string, cause: ProgramError) {
    const what = cause.message.slice(0, -cause.remedy.length).trimEnd();
    super(`${path}: ${what}`, { facts: { path, ...cause.facts }, remedy: cause.remedy, cause });
    this.code = cause.code;
  }
}

/** Names the file where what is done with its program refuses it: those errors know ranks and steps alone. */
export function inFile<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof ProgramError ? new RefusedFileError(path, error) : error;
  }
}
