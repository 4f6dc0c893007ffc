import type { Sbp } from "../sbp/sbp.js";
import type { Attributes } from "./logical-graph.js";

/** Tensors of graphs are float32. */
export const elementBytes = 4;

/** One way to compute on parts, along one dimension: what the inputs must be, and what comes out. */
export interface Signature {
  readonly inputs: readonly Sbp[];
  readonly output: Sbp;
}

/** A rank's part. */
export interface LocalTensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** When an operation acts: each of its acts takes the result of one, or of `times`, and gives one, or `times`. */
export type OpRhythm = "each" | "source" | "holds-input" | "sends-late";

export interface OpDefinition {
  readonly inputCount: number;
  readonly rhythm: OpRhythm;
  /** Shape of the result; undefined where the inputs' shapes don't fit. */
  readonly shape: (inputs: readonly (readonly number[])[], attributes: Attributes) => readonly number[] | undefined;
  readonly signatures: (inputs: readonly (readonly number[])[], attributes: Attributes) => readonly Signature[];
  /** @param act - from 0. */
  readonly compute: (inputs: readonly LocalTensor[], output: LocalTensor, attributes: Attributes, act: number) => void;
  /** Its result is the memory of its first input. */
  readonly isInPlace?: boolean;
  /** It writes to its first input when everybody else has read it. */
  readonly isUpdate?: boolean;
}
