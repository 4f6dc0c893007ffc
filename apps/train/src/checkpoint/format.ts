import { createHash } from "node:crypto";
import type { ModelState } from "../state/model-state.js";

/** A run as far as it came. */
export interface Checkpoint {
  readonly model: string;
  readonly seed: number;
  readonly globalBatch: number;
  readonly optimizer: string;
  /** Of every step done. */
  readonly losses: readonly number[];
  readonly state: ModelState;
}

interface Header extends Omit<Checkpoint, "state"> {
  readonly format: 1;
  readonly step: number;
  readonly arrays: readonly { readonly name: string; readonly shape: readonly number[]; readonly length: number }[];
}

const digestBytes = 32;

/**
 * A file: SHA-256 of all that follows, the header's length (32 bits, little endian), the header (JSON), padding to 4 bytes, and
 * the arrays one after another (float32, little endian).
 */
export function encodeCheckpoint({ state, ...rest }: Checkpoint): Uint8Array {
  const arrays = state.arrays.map(({ name, shape, values }) => ({ name, shape, length: values.length }));
  const header: Header = { format: 1, step: state.step, ...rest, arrays };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const padding = Buffer.alloc(-text.length & 3);
  const values = state.arrays.map((array) => Buffer.from(array.values.buffer, array.values.byteOffset, array.values.byteLength));
  const body = Buffer.concat([length, text, padding, ...values]);
  return Buffer.concat([digest(body), body]);
}

/** @returns the checkpoint, or in words what is wrong with it. */
export function decodeCheckpoint(file: Uint8Array): Checkpoint | string {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.length < digestBytes + 4) return `it is cut off after ${bytes.length} bytes`;
  const body = bytes.subarray(digestBytes);
  if (!digest(body).equals(bytes.subarray(0, digestBytes))) return "its checksum is wrong";
  const textLength = body.readUInt32LE(0);
  const { format, step, arrays, ...rest } = JSON.parse(body.toString("utf8", 4, 4 + textLength)) as Header;
  if (format !== 1) return `its format ${format} is unknown`;
  let at = 4 + textLength + (-textLength & 3);
  const values = arrays.map(({ name, shape, length }) => {
    at += 4 * length;
    // Copied, because a float32 must begin at a multiple of 4.
    return { name, shape, values: new Float32Array(Uint8Array.from(body.subarray(at - 4 * length, at)).buffer) };
  });
  return { ...rest, state: { step, arrays: values } };
}

function digest(body: Uint8Array): Buffer {
  return createHash("sha256").update(body).digest();
}
