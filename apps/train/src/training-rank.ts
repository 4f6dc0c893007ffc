// One rank's training: the program that train() runs in each rank's thread.
import type { Optimizer } from "@tensorflow/tfjs-core";
import { BatchReader } from "./data/batch-reader.js";
import { decoders } from "./data/decode.js";
import type { RecordFile } from "./data/record-file.js";
import { CheckpointError } from "./errors.js";
import { Loaders } from "./loader/start-loaders.js";
import type { Stage, Task } from "./models/task.js";
import { taskByName } from "./models/tasks.js";
import type { Communicator } from "./rank/communicator.js";
import { GradientReduction } from "./rank/gradient-reduction.js";
import type { ModelState } from "./state/model-state.js";
import { captureState, restoreState } from "./state/rank-state.js";
import { StateBoard, type StateMemory } from "./state/state-board.js";
import { useTensorFlow } from "./tensorflow.js";
import { newOptimizer, rateAt, setRate } from "./training/optimizers.js";
import { type Position, positionOf } from "./training/parallel-layout.js";
import { Pipeline } from "./training/pipeline.js";
import type { TrainPlan } from "./training/plan.js";

export interface TrainingArgs {
  readonly plan: TrainPlan;
  readonly file: RecordFile;
  /** Where a former run has come to. */
  readonly start: ModelState | undefined;
  /** After so many steps all ranks wait until a checkpoint is saved; 0: never. */
  readonly checkpointEvery: number;
  /** The step of the last checkpoint that was saved. */
  readonly savedStep: Int32Array<SharedArrayBuffer>;
}

/** What a rank reports. */
export type TrainingReport =
  | { readonly kind: "board"; readonly board: StateMemory }
  | { readonly kind: "step"; readonly step: number; readonly loss: number | undefined }
  | { readonly kind: "checkpoint"; readonly step: number };

/** @returns the share of the test part that is predicted right, on the ranks that know it. */
export default async function trainRank(communicator: Communicator, args: TrainingArgs): Promise<number | undefined> {
  await useTensorFlow();
  const { plan, file, start, checkpointEvery, savedStep } = args;
  const task = taskByName(plan.model);
  const position = positionOf(communicator.rank, plan.parallel);
  const stage = buildStage(task, communicator, plan, position);
  const optimizer = newOptimizer(plan.optimizer, plan.learningRate);
  if (start !== undefined) await restore(start, stage, optimizer);
  const share = plan.globalBatch / plan.parallel.dp;
  const pipeline = new Pipeline(communicator, position, stage, plan.microBatches, share / plan.microBatches);
  const channels = communicator.gradients({
    name: "gradients",
    ranks: position.dataGroup,
    gradients: stage.parameters.map(({ name, variable }, i) => ({ name, elements: variable.size, priority: stage.parameters.length - i })),
  });
  const variables = stage.parameters.map(({ variable }) => variable);
  const report = (value: TrainingReport): void => communicator.report(value);
  using reader = new BatchReader(file, decoders[task.decoder]);
  const isSeeing = position.stage === 0 || position.stage === plan.parallel.pp - 1;
  const { recordBytes, stride, trainCount: records } = file;
  const { seed, globalBatch, steps } = plan;
  const load = {
    recordBytes,
    stride,
    records,
    seed,
    share,
    offset: position.data * share,
    globalBatch,
    firstStep: start?.step ?? 0,
    steps,
  };
  using loaders = isSeeing ? await Loaders.start(plan.loaders, load, file.path, task.decoder) : undefined;
  let board: StateBoard | undefined;

  for (let step = start?.step ?? 0; step < plan.steps; step += 1) {
    const batch = loaders?.next() ?? new Float32Array(0);
    const reduction = new GradientReduction(channels);
    const loss = pipeline.step(batch, reduction);
    const gradients = reduction.collect(variables);
    setRate(optimizer, rateAt(step, steps, plan.learningRate));
    optimizer.applyGradients(gradients);
    for (const { tensor } of gradients) tensor.dispose();

    const { entries, arrays } = await captureState(stage.parameters, optimizer);
    if (board === undefined) {
      board = new StateBoard(entries);
      report({ kind: "board", board: board.memory });
    }
    board.publish(step + 1, arrays);
    if (position.tensor === 0) report({ kind: "step", step, loss });
    if (checkpointEvery > 0 && (step + 1) % checkpointEvery === 0) {
      report({ kind: "checkpoint", step: step + 1 });
      awaitStep(savedStep, step + 1);
    }
  }
  return position.data === 0 ? score(communicator, position, stage, reader, file) : undefined;
}

function buildStage(task: Task, communicator: Communicator, plan: TrainPlan, position: Position): Stage {
  return task.build({
    seed: plan.seed,
    parallel: plan.parallel,
    stage: position.stage,
    tensor: position.tensor,
    sumOverParts(values) {
      const ranks = position.tensorGroup;
      const channel = communicator.channel({ name: `parts of ${values.length}`, collective: "all-reduce", count: values.length, ranks });
      channel.send.set(values);
      return channel.run().slice();
    },
  });
}

async function restore(start: ModelState, stage: Stage, optimizer: Optimizer): Promise<void> {
  const missing = await restoreState(start, stage.parameters, optimizer);
  if (missing.length > 0) {
    throw new CheckpointError(`The checkpoint lacks ${missing.join(", ")}`, "Give the folder of a run of this model.", { missing });
  }
}

function awaitStep(savedStep: Int32Array<SharedArrayBuffer>, step: number): void {
  for (;;) {
    const saved = Atomics.load(savedStep, 0);
    if (saved >= step) return;
    Atomics.wait(savedStep, 0, saved);
  }
}

const testBatch = 100;

function score(communicator: Communicator, position: Position, stage: Stage, reader: BatchReader, file: RecordFile): number | undefined {
  const tests = Math.floor(file.testCount / file.testStep);
  const records = Math.min(testBatch, tests);
  const pipeline = new Pipeline(communicator, position, stage, 1, records);
  const batches = Math.floor(tests / records);
  let sum: number | undefined;
  for (let batch = 0; batch < batches; batch += 1) {
    const numbers = Array.from({ length: records }, (_, i) => (batch * records + i) * file.testStep);
    const share = pipeline.score(reader.read(numbers, file.testOffset));
    if (share !== undefined) sum = (sum ?? 0) + share / batches;
  }
  return sum;
}
