import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { undoAtExit } from "../terminal/undo-at-exit.js";

export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

/** A folder that is removed, with all that is in it, where its scope ends or the process does. @param name - what its own begins with. */
export function temporaryFolder(name: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), `${name}-`));
  return { path, ...undoAtExit(() => rmSync(path, { recursive: true, force: true })) };
}
