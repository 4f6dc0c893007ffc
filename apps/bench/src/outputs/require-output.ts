import { dirname } from "node:path";
import { makeFolder } from "@dfccl/core";
import { BenchError } from "../peers/bench-error.js";
import { tryToWrite } from "./try-to-write.js";

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
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new BenchError("NO_OUTPUT", `Nothing can be written to ${path} (${reason}).`, remedy, { path, reason }, cause);
  }
}
