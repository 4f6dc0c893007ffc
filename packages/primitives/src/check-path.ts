import { InvalidArgumentError } from "./errors.js";

/**
 * Refuses what names no file: an empty text, what is no text (5 would be written to a file "5", or to whatever file descriptor 5
 * is), and a text with a zero byte, at which the system stops reading.
 * @param example - such as "/tmp/record.json".
 * @throws {InvalidArgumentError}
 */
export function checkPath(argument: string, path: string, example: string): void {
  if (typeof path === "string" && path !== "" && !path.includes("\0")) return;
  throw new InvalidArgumentError(argument, path, `a path such as "${example}"`);
}
