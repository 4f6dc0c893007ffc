import { closeSync, openSync } from "node:fs";

/** A file made by this program and no other. */
export interface ExclusiveFile {
  readonly path: string;
  readonly descriptor: number;
}

/**
 * Makes a file that wasn't there: `path`, or the first of `path`.0, `path`.1 … that is free.
 * @throws {Error} of the system, where nothing can be written there.
 */
export function openExclusively(path: string): ExclusiveFile {
  for (let attempt = -1; ; attempt += 1) {
    const candidate = attempt < 0 ? path : `${path}.${attempt}`;
    try {
      return { path: candidate, descriptor: openSync(candidate, "wx") };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

export function close({ descriptor }: ExclusiveFile): void {
  closeSync(descriptor);
}
