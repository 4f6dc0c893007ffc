import { readFileSync } from "node:fs";
import { DfcclError } from "@dfccl/primitives";

/** A file that a simulation was given isn't there, or isn't JSON. */
export class UnreadableFileError extends DfcclError {
  override readonly code = "UNREADABLE_FILE";

  constructor(path: string, why: string, remedy: string, cause: unknown) {
    super(`${path} can't be read: ${why}.`, { facts: { path }, remedy, cause });
  }
}

/** @throws {UnreadableFileError} */
export function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new UnreadableFileError(path, code === "ENOENT" ? "there is no such file" : message, "Look at the path.", error);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableFileError(path, `it isn't JSON (${(error as Error).message})`, "docs/simulator.md shows what it holds.", error);
  }
}
