import type { RecordLayout } from "../layout.js";
import { MalformedProgramError } from "../program-errors.js";

/** One record of an untrusted program; reading can't leave it, because its bounds were checked before. */
export class RecordReader<Name extends string> {
  constructor(
    private readonly view: DataView,
    private readonly layout: RecordLayout<Name>,
    private readonly start: number,
  ) {
    if (start + layout.size > view.byteLength) {
      throw new MalformedProgramError(`a record of ${layout.size} bytes ends after the last of ${view.byteLength} bytes`, start);
    }
  }

  get(name: Name): number {
    const { size } = this.layout.fields[name];
    const at = this.offsetOf(name);
    if (size === 1) return this.view.getUint8(at);
    return size === 2 ? this.view.getUint16(at, true) : this.view.getUint32(at, true);
  }

  getBigint(name: Name): bigint {
    return this.view.getBigUint64(this.offsetOf(name), true);
  }

  /** The field's value if `isValid`, else an error that says what it should have been. */
  require(name: Name, expected: string, isValid: (value: number) => boolean): number {
    const value = this.get(name);
    if (!isValid(value)) this.fail(name, `is ${value}, expected ${expected}`);
    return value;
  }

  fail(name: Name, what: string): never {
    throw new MalformedProgramError(`${name} ${what}`, this.offsetOf(name), { field: name });
  }

  private offsetOf(name: Name): number {
    return this.start + this.layout.fields[name].offset;
  }
}
