import type { RecordLayout } from "../layout.js";

/** Writes records one after the other into a zeroed array of known size. */
export class RecordWriter {
  readonly bytes: Uint8Array;
  private readonly view: DataView;
  private position = 0;

  constructor(byteLength: number) {
    this.bytes = new Uint8Array(byteLength);
    this.view = new DataView(this.bytes.buffer);
  }

  /** Writes one record; fields that `values` leaves out are 0. */
  write<Name extends string>(layout: RecordLayout<Name>, values: Readonly<Partial<Record<Name, number | bigint>>>): void {
    for (const name in values) {
      const value = values[name];
      if (value === undefined) continue;
      const { offset, size } = layout.fields[name];
      const at = this.position + offset;
      if (typeof value === "bigint") this.view.setBigUint64(at, value, true);
      else if (size === 1) this.view.setUint8(at, value);
      else if (size === 2) this.view.setUint16(at, value, true);
      else this.view.setUint32(at, value, true);
    }
    this.position += layout.size;
  }
}
