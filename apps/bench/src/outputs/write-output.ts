import { writeFileSync } from "node:fs";
import { unwritable } from "./unwritable.js";

/**
 * Writes a file that somebody has named. It was tried when the command began; what a full disk says when it ends names no file.
 * @throws {BenchError} NO_OUTPUT
 */
export function writeOutput(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}
