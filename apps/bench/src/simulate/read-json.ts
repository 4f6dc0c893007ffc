import { DfcclError } from "@dfccl/primitives";
import { readText, shownPath } from "../inputs/read-text.js";

/** A file that a simulation was given isn't there, or isn't JSON. */
export class UnreadableFileError extends DfcclError {
  override readonly code = "UNREADABLE_FILE";

  constructor(path: string, why: string, remedy: string, cause: unknown) {
    super(`${shownPath(path)} can't be read: ${why}.`, { facts: { path }, remedy, cause });
  }
}

/** @throws {UnreadableFileError} */
export function readJson(path: string): unknown {
  const text = readText(path, (why, cause) => new UnreadableFileError(path, why, "Look at the path.", cause));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableFileError(path, `it isn't JSON (${(error as Error).message})`, "docs/simulator.md shows what it holds.", error);
  }
}
