import type { Scalar, Variable } from "@tensorflow/tfjs-core";
import type { RecordFile } from "../data/record-file.js";

/** A model on one rank. */
export interface Model {
  /** In the order in which the forward pass needs them. */
  readonly variables: readonly Variable[];
  /** Mean loss over the records of a batch, as `Task.decode` makes them. Differentiable. */
  loss(batch: Float32Array, records: number): Scalar;
  /** Share of the records that are predicted right. */
  accuracy(batch: Float32Array, records: number): number;
}

/** Something to train. */
export interface Task {
  readonly defaults: { readonly steps: number; readonly globalBatch: number; readonly learningRate: number };
  /** Writes or finds the data. @param folder - for caches. @throws {DataMissingError} */
  prepare(folder: string): RecordFile;
  /** One record of the file as the numbers of a batch. */
  decode(record: Uint8Array, into: Float32Array): void;
  /** The same for the same seed. */
  build(seed: number): Model;
}
