import { types } from "node:util";
import { byteSizeOf, type DataType, type TypedArrayOf, typedArrayOf } from "@dfccl/primitives";

// What a typed array is, asked of the language and not of the object: one may have properties of its own called `length`
// or `buffer`, or another's prototype, and the engine would go by them to memory that isn't there. None of these throws
// for what is no typed array, such as a proxy.

const prototype = Object.getPrototypeOf(Uint8Array.prototype) as object;

function getter<T>(name: string | symbol): (view: unknown) => T {
  const get = Object.getOwnPropertyDescriptor(prototype, name)?.get as (this: unknown) => T;
  return (view) => get.call(view);
}

/** "Float32Array", also of a class that is made of one; undefined of what is no typed array. */
export const kindOf = getter<string | undefined>(Symbol.toStringTag);

/** @pre kindOf(view) is defined; 0 once the memory is gone. */
export const elementsOf = getter<number>("length");
/** @pre kindOf(view) is defined. */
export const memoryOf = getter<ArrayBufferLike>("buffer");
/** @pre kindOf(view) is defined. */
export const offsetOf = getter<number>("byteOffset");

const byteLength = getter<number>("byteLength");

/** Bytes of a typed array; 0 once its memory is gone, and of what is none. */
export function bytesOf(value: unknown): number {
  return kindOf(value) === undefined ? 0 : byteLength(value);
}

const [ownBytes, sharedBytes] = [ArrayBuffer.prototype, SharedArrayBuffer.prototype].map(
  (memory) => Object.getOwnPropertyDescriptor(memory, "byteLength")?.get as (this: unknown) => number,
) as [(this: unknown) => number, (this: unknown) => number];

/** Bytes of the memory that a typed array is a view of. */
export function bytesOfMemory(memory: ArrayBufferLike): number {
  return (types.isArrayBuffer(memory) ? ownBytes : sharedBytes).call(memory);
}

/**
 * Some of a typed array's elements, as a view of the language's own class: that of the caller may have another constructor,
 * or a subarray() that gives something else, and results would go there.
 * @pre kindOf(view) is that of the data type, and it has these elements.
 */
export function sectionOf<T extends DataType>(dataType: T, view: unknown, begin: number, count: number): TypedArrayOf<T> {
  const ArrayOfType = typedArrayOf(dataType);
  if (count === 0) return new ArrayOfType(0) as TypedArrayOf<T>; // The memory may be gone.
  return new ArrayOfType(memoryOf(view) as ArrayBuffer, offsetOf(view) + begin * byteSizeOf(dataType), count) as TypedArrayOf<T>;
}

/** What a message calls that which was given for a buffer. */
export function nameOfGiven(value: unknown): string {
  const kind = kindOf(value);
  if (kind !== undefined) return kind;
  try {
    const name: unknown = (value as object).constructor?.name;
    return typeof name === "string" && name !== "" ? name : typeof value;
  } catch {
    return typeof value;
  }
}
