import { dirname } from "node:path";
import { makeFolder } from "@dfccl/core";
import { tryToWrite } from "./try-to-write.js";
import { unwritable } from "./unwritable.js";

/**
 * Makes the folder of a file that nobody has named, and tries to write it, before the work whose result it should take.
 * @param remedy - how to have it elsewhere.
 * @throws {BenchError} NO_OUTPUT
 */
export function requireOutput(path: string, remedy: string): void {
  try {
    makeFolder(dirname(path));
    tryToWrite(path);
  } catch (cause) {
    throw unwritable(path, cause, remedy);
  }
}
