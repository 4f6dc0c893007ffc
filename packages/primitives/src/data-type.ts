import { entryAt, lookUp } from "./look-up.js";

/** Element types, in the order of their codes (`DataType` in native/src/base/types.hpp). */
export const dataTypes = [
  "int8",
  "uint8",
  "int32",
  "uint32",
  "int64",
  "uint64",
  "float16",
  "float32",
  "float64",
  "bfloat16",
  "float8e4m3",
  "float8e5m2",
] as const;

export type DataType = (typeof dataTypes)[number];

const byteSizes: Readonly<Record<DataType, number>> = {
  int8: 1,
  uint8: 1,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  float16: 2,
  float32: 4,
  float64: 8,
  bfloat16: 2,
  float8e4m3: 1,
  float8e5m2: 1,
};

/**
 * The typed array that holds each type. JavaScript on Node 20 has no number format for the last four: they are held as
 * their raw bits.
 */
const typedArrays = {
  int8: Int8Array,
  uint8: Uint8Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  float8e4m3: Uint8Array,
  float8e5m2: Uint8Array,
} as const satisfies Record<DataType, unknown>;

const rawBits: ReadonlySet<DataType> = new Set(["float16", "bfloat16", "float8e4m3", "float8e5m2"]);

/** Instance of the typed array that holds elements of type `T`. */
export type TypedArrayOf<T extends DataType> = InstanceType<(typeof typedArrays)[T]>;

export function isDataType(value: unknown): value is DataType {
  return (dataTypes as readonly unknown[]).includes(value);
}

/** Code of a data type in native code and in binary records. */
export function dataTypeCode(type: DataType): number {
  return dataTypes.indexOf(type);
}

/** @throws {InvalidArgumentError} for a code that no data type has. */
export function dataTypeFromCode(code: number): DataType {
  return entryAt(dataTypes, "data type code", code);
}

/** Bytes of one element. @throws {InvalidArgumentError} */
export function byteSizeOf(type: DataType): number {
  return lookUp(byteSizes, "dataType", type);
}

/** Constructor of the typed array that holds elements of this type (raw bits where {@link holdsRawBits}). */
export function typedArrayOf<T extends DataType>(type: T): (typeof typedArrays)[T] {
  return lookUp(typedArrays, "dataType", type) as (typeof typedArrays)[T];
}

/** True where JavaScript can't read the elements as numbers: float16, bfloat16 and both float8 formats. */
export function holdsRawBits(type: DataType): boolean {
  return rawBits.has(type);
}
