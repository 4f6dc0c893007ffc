import { closeSync, openSync, readSync } from "node:fs";
import type { Decode } from "./decode.js";
import type { RecordFile } from "./record-file.js";

/** Reads records one after another, in the thread that uses them. */
export class BatchReader implements Disposable {
  private readonly handle: number;
  private readonly bytes: Uint8Array;

  constructor(
    private readonly file: RecordFile,
    private readonly decode: Decode,
  ) {
    this.handle = openSync(file.path, "r");
    this.bytes = new Uint8Array(file.recordBytes);
  }

  /** @param from - byte at which record 0 begins. */
  read(records: Iterable<number>, from: number): Float32Array {
    const { recordBytes, stride } = this.file;
    const numbers = [...records];
    const batch = new Float32Array(numbers.length * recordBytes);
    for (const [i, record] of numbers.entries()) {
      readSync(this.handle, this.bytes, 0, recordBytes, from + record * stride);
      this.decode(this.bytes, batch.subarray(i * recordBytes, (i + 1) * recordBytes), undefined);
    }
    return batch;
  }

  [Symbol.dispose](): void {
    closeSync(this.handle);
  }
}
