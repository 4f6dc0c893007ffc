import { readFileSync, type Stats, statSync } from "node:fs";

/**
 * The text of a file that was named. What has no end, or might not have one, is refused: a pipe that nobody writes, /dev/zero.
 * @param refuse - makes the error of why there is none: a clause, such as "there is no such file".
 */
export function readText(path: string, refuse: (why: string, cause?: unknown) => Error): string {
  const why = whyNoFile(path);
  if (why !== undefined) throw refuse(why);
  try {
    // Editors on Windows begin a file with a byte order mark, which neither JSON nor our XML knows.
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (cause) {
    throw refuse((cause as Error).message, cause);
  }
}

/** A path as a message names it: one without a character has to be seen, too. */
export const shownPath = (path: string): string => path || '""';

/** Why a path leads to no file: a clause; undefined where it leads to one. */
export function whyNoFile(path: string): string | undefined {
  let there: Stats | undefined;
  try {
    there = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return (error as Error).message;
  }
  if (there === undefined) return "there is no such file";
  if (there.isFile()) return undefined;
  if (there.isDirectory()) return "it is a folder";
  if (there.isFIFO()) return "it is a pipe, not a file";
  return there.isSocket() ? "it is a socket, not a file" : "it is a device, not a file";
}
