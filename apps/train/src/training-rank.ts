// One rank's training: the program that train() runs in each rank's thread.
import { closeSync, openSync, readSync } from "node:fs";
import { train } from "@tensorflow/tfjs-core";
import type { RecordFile } from "./data/record-file.js";
import { SampleOrder } from "./data/sample-order.js";
import { taskByName } from "./models/tasks.js";
import type { Communicator } from "./rank/communicator.js";
import { distributed } from "./rank/distributed.js";
import { useTensorFlow } from "./tensorflow.js";

export interface TrainingArgs {
  readonly model: string;
  readonly file: RecordFile;
  readonly seed: number;
  readonly steps: number;
  /** Records of all ranks in a step. */
  readonly globalBatch: number;
  readonly learningRate: number;
}

/** @returns how many of the records for testing are predicted right, as a share. */
export default async function trainRank(communicator: Communicator, args: TrainingArgs): Promise<number> {
  await useTensorFlow();
  const { file, seed, steps, globalBatch, learningRate } = args;
  const task = taskByName(args.model);
  const model = task.build(seed);
  const optimizer = distributed(train.momentum(learningRate, 0.9), communicator);
  const order = new SampleOrder(seed, file.trainCount);
  const share = globalBatch / communicator.size;
  const handle = openSync(file.path, "r");
  const read = (records: Uint32Array, from: number): Float32Array => {
    const batch = new Float32Array(records.length * file.recordBytes);
    const bytes = new Uint8Array(file.recordBytes);
    for (const [i, record] of records.entries()) {
      readSync(handle, bytes, 0, file.recordBytes, from + record * file.stride);
      task.decode(bytes, batch.subarray(i * file.recordBytes, (i + 1) * file.recordBytes));
    }
    return batch;
  };
  for (let step = 0; step < steps; step += 1) {
    const batch = read(order.slice(step * globalBatch + communicator.rank * share, share), 0);
    const loss = optimizer.minimize(() => model.loss(batch, share), true, [...model.variables]);
    communicator.report({ step, loss: loss?.dataSync()[0] });
    loss?.dispose();
  }
  let right = 0;
  for (let from = 0; from < file.testCount; from += testBatch) {
    const count = Math.min(testBatch, file.testCount - from);
    const records = Uint32Array.from({ length: count }, (_, i) => from + i);
    right += count * model.accuracy(read(records, file.testOffset), count);
  }
  closeSync(handle);
  return right / file.testCount;
}

const testBatch = 200;
