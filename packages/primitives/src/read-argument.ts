import { DfcclError, InvalidArgumentError } from "./errors.js";

/**
 * Reads what a caller gave. A getter or a proxy of the caller's may throw anything then, which tells nobody what to do.
 * @param expected - for a message: "a list of ranks".
 * @returns what `read` does.
 * @throws {InvalidArgumentError} whose cause is what was thrown; a {@link DfcclError} as it is.
 */
export function readArgument<T>(argument: string, expected: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof DfcclError) throw cause;
    throw new InvalidArgumentError(argument, undefined, expected, { cause });
  }
}
