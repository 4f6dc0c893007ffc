import { tensor, type Variable, variable } from "@tensorflow/tfjs-core";
import { seededRandom } from "../random.js";

/** One part of a tensor that is cut along an axis. */
export interface Cut {
  readonly axis: number;
  readonly index: number;
  readonly parts: number;
}

/** A parameter of the model, or this rank's part of it. */
export interface Parameter {
  /** The same on all ranks that hold any of it. */
  readonly name: string;
  /** Of the whole. */
  readonly shape: readonly number[];
  readonly cut?: Cut | undefined;
  readonly variable: Variable;
}

/**
 * A parameter whose first values follow from name and seed alone, so that every way of cutting the model up starts from the same.
 * @param deviation - of normal values around 0; `constant` instead where there is none.
 */
export function newParameter(
  name: string,
  shape: readonly number[],
  start: { readonly seed: number; readonly deviation: number } | { readonly constant: number },
  cut?: Cut,
): Parameter {
  const count = shape.reduce((product, extent) => product * extent, 1);
  const whole =
    "constant" in start ? new Float32Array(count).fill(start.constant) : normalValues(count, start.deviation, hash(name) ^ start.seed);
  const values = cut === undefined ? whole : partOf(whole, shape, cut);
  const first = tensor(values, partShape(shape, cut), "float32");
  const parameter = { name, shape, cut, variable: variable(first) };
  first.dispose();
  return parameter;
}

/** Extents of a part. */
export function partShape(shape: readonly number[], cut?: Cut): number[] {
  return shape.map((extent, axis) => (axis === cut?.axis ? extent / cut.parts : extent));
}

/** This part's values out of the whole's. */
export function partOf(whole: Float32Array, shape: readonly number[], cut: Cut): Float32Array {
  const part = new Float32Array(whole.length / cut.parts);
  forEachRun(shape, cut, (inWhole, inPart, length) => part.set(whole.subarray(inWhole, inWhole + length), inPart));
  return part;
}

/** Puts this part's values into the whole. */
export function putPart(whole: Float32Array, part: Float32Array, shape: readonly number[], cut: Cut): void {
  forEachRun(shape, cut, (inWhole, inPart, length) => whole.set(part.subarray(inPart, inPart + length), inWhole));
}

/** Runs of values that lie together in both. */
function forEachRun(
  shape: readonly number[],
  { axis, index, parts }: Cut,
  visit: (inWhole: number, inPart: number, length: number) => void,
): void {
  const inner = shape.slice(axis + 1).reduce((product, extent) => product * extent, 1);
  const wholeRun = (shape[axis] ?? 1) * inner;
  const length = wholeRun / parts;
  const outer = shape.slice(0, axis).reduce((product, extent) => product * extent, 1);
  for (let i = 0; i < outer; i += 1) visit(i * wholeRun + index * length, i * length, length);
}

function normalValues(count: number, deviation: number, seed: number): Float32Array<ArrayBuffer> {
  const random = seededRandom(seed);
  return Float32Array.from({ length: count }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    return deviation * radius * Math.cos(2 * Math.PI * random());
  });
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value;
}
