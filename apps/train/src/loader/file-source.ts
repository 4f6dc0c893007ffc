import { closeSync, openSync, readSync } from "node:fs";
import type { RecordSource } from "./loader-worker.js";

/** Records of a file, read when they are asked for; the thread waits meanwhile. */
export class FileSource implements RecordSource, Disposable {
  private readonly file: number;

  constructor(private readonly path: string) {
    this.file = openSync(path, "r");
  }

  tryRead(offset: number, into: Uint8Array): boolean {
    const read = readSync(this.file, into, 0, into.length, offset);
    if (read !== into.length) throw new Error(`${this.path} ends before byte ${offset + into.length}`);
    return true;
  }

  [Symbol.dispose](): void {
    closeSync(this.file);
  }
}
