import type { Scalar, Tensor } from "@tensorflow/tfjs-core";
import type { DecoderName } from "../data/decode.js";
import type { RecordFile } from "../data/record-file.js";
import type { OptimizerName } from "../training/optimizers.js";
import type { Parallel } from "../training/parallel-layout.js";
import type { Parameter } from "./parameter.js";

/** A model on one rank, or that rank's part of it: some of its layers, and of these its share. */
export interface Stage {
  /** In the order in which the forward pass needs them. */
  readonly parameters: readonly Parameter[];
  /** What a stage hands to the next for so many records. */
  outputShape(records: number): number[];
  /** @param input - the stage before's output; undefined in the first, which reads the batch. @returns the output; of the last stage, logits. */
  forward(batch: Float32Array, records: number, input: Tensor | undefined): Tensor;
  /** Mean loss over the records; for the last stage. */
  loss(logits: Tensor, batch: Float32Array, records: number): Scalar;
  /** Share of what is predicted right; for the last stage. */
  accuracy(logits: Tensor, batch: Float32Array, records: number): number;
}

/** Which part of the model to build, and how its parts exchange what they must. */
export interface StagePlan {
  readonly seed: number;
  readonly parallel: Parallel;
  readonly stage: number;
  readonly tensor: number;
  /** Sums an array of float32 over the ranks that hold the other parts of the same layers; blocks. */
  readonly sumOverParts: (values: Float32Array) => Float32Array;
}

/** Something to train. */
export interface Task {
  readonly defaults: {
    readonly steps: number;
    readonly globalBatch: number;
    readonly learningRate: number;
    readonly optimizer: OptimizerName;
  };
  /** Most ways in which the model can be cut; `tp` and `pp` must divide these. */
  readonly divisible: Omit<Parallel, "dp">;
  /** Writes or finds the data. @param folder - for caches. @throws {DataMissingError} */
  prepare(folder: string): RecordFile;
  /** How its records are read. */
  readonly decoder: DecoderName;
  /** The same parameters for the same seed, however they are cut. */
  build(plan: StagePlan): Stage;
}
