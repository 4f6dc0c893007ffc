import { randomUUID } from "node:crypto";
import { accessSync, closeSync, constants, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";

/** Where a report will be: tried when the run begins, written when it ends. */
export interface ReportFile {
  /**
   * Takes the place of what was there, all at once: of two runs that write one file, the last one's report is there, and whole.
   * @throws {Error} of the system, which may name no file.
   */
  write(text: string): void;
}

/**
 * Tries that a file can be written, before the work whose result it should take. What is in it stays until then.
 * @throws {Error} of the system, where nothing can be written there.
 */
export function openReportFile(path: string): ReportFile {
  const there = statSync(path, { throwIfNoEntry: false });
  // A pipe or a device takes text and can't be replaced. To open a pipe would wait for a reader.
  if (there !== undefined && !there.isFile()) {
    if (there.isDirectory()) throw Object.assign(new Error(`${path} is a directory`), { code: "EISDIR" });
    accessSync(path, constants.W_OK);
    return { write: (text) => writeFileSync(path, text) };
  }
  if (there !== undefined) accessSync(path, constants.W_OK);
  // What a symbolic link leads to is replaced, not the link.
  const target = there === undefined ? path : realpathSync(path);
  const unfinished = `${target}.${randomUUID()}.unfinished`;
  // Removed again: a run that is killed leaves nothing behind.
  closeSync(openSync(unfinished, "wx"));
  rmSync(unfinished);
  return {
    write(text) {
      try {
        writeFileSync(unfinished, text, { flag: "wx" });
        renameSync(unfinished, target);
      } catch (error) {
        // A disk that is full has taken a part.
        rmSync(unfinished, { force: true });
        throw error;
      }
    },
  };
}
