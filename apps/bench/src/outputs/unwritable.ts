import { BenchError } from "../peers/bench-error.js";

/** The error of a file that could not be written. @param remedy - how to have it elsewhere. */
export function unwritable(path: string, cause: unknown, remedy = remedyOf(cause)): BenchError {
  const reason = reasonOf(cause);
  return new BenchError("NO_OUTPUT", `Nothing can be written to ${path} (${reason}).`, remedy, { path, reason }, cause);
}

function remedyOf(cause: unknown): string {
  return ["ENOSPC", "EDQUOT"].includes(reasonOf(cause)) ? "Make room on its disk, or name a file on another." : "Name another file.";
}

function reasonOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException).code ?? String(cause);
}
