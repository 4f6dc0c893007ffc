import { type DataType, holdsRawBits, type TypedArrayOf, typedArrayOf } from "@dfccl/primitives";

// Exponent bits and mantissa bits of the formats that JavaScript has no numbers for.
const formats: Partial<Record<DataType, readonly [exponentBits: number, mantissaBits: number]>> = {
  float16: [5, 10],
  bfloat16: [8, 7],
  float8e4m3: [4, 3],
  float8e5m2: [5, 2],
};

/** Bits of a number that the format holds exactly, as a normal number or 0. */
export function encodeSmallFloat(type: DataType, value: number): number {
  const [exponentBits, mantissaBits] = formats[type] ?? [0, 0];
  const sign = value < 0 ? 1 << (exponentBits + mantissaBits) : 0;
  if (value === 0) return 0;
  const exponent = Math.floor(Math.log2(Math.abs(value)));
  const mantissa = (Math.abs(value) / 2 ** exponent - 1) * 2 ** mantissaBits;
  if (!Number.isInteger(mantissa)) throw new Error(`${type} doesn't hold ${value} exactly`);
  const bias = 2 ** (exponentBits - 1) - 1;
  return sign | ((exponent + bias) << mantissaBits) | mantissa;
}

/** The array that holds these numbers as elements of `type`. */
export function elementsOf<T extends DataType>(type: T, values: readonly number[]): TypedArrayOf<T> {
  const array = new (typedArrayOf(type))(values.length);
  values.forEach((value, i) => {
    if (array instanceof BigInt64Array || array instanceof BigUint64Array) array[i] = BigInt(value);
    else array[i] = holdsRawBits(type) ? encodeSmallFloat(type, value) : value;
  });
  return array as TypedArrayOf<T>;
}

/** Everything that a view shows, as bytes: equal bytes are equal bits, NaN and -0 included. */
export function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
