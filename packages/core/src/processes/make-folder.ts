import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { checkPath } from "@dfccl/primitives";

/**
 * Makes a folder, and those that it lies in. Node's own `recursive` never returns where a parent is there and takes no folders, as
 * /proc does.
 * @throws {InvalidArgumentError} for what is no path; {Error} of the system.
 */
export function makeFolder(path: string): void {
  checkPath("path", path, "/tmp/results");
  if (existsSync(path)) {
    // A file is refused, a folder is not.
    mkdirSync(path, { recursive: true });
    return;
  }
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process was quicker.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
