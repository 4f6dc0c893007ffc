import { type ScheduleName, scheduleNames } from "@dfccl/actor";
import { checkInteger, checkText, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import { PlanError } from "../errors.js";
import type { Task } from "../models/task.js";
import { taskByName, taskNames } from "../models/tasks.js";
import { readOptions } from "../read-options.js";
import { type OptimizerName, optimizerNames } from "./optimizers.js";
import { type Parallel, parseParallel } from "./parallel-layout.js";

/** Each is a thread. */
export const mostRanks = 256;
/** Each step's loss is kept. */
export const mostSteps = 2 ** 24;
const mostLoaders = 64;

/** What a run is asked to do; what is left out is the model's own. */
export interface PlanOptions {
  /** What to train: one of `taskNames`. */
  readonly model: string;
  /** Ranks, each a thread. */
  readonly ranks: number;
  /** How the ranks share the work, as in "dp=2,tp=2,pp=2". Default: by data alone. */
  readonly parallel?: string | undefined;
  readonly steps?: number | undefined;
  /** Decides the first parameters and the order of the data. Default 1. */
  readonly seed?: number | undefined;
  /** Records of all ranks in a step. */
  readonly globalBatch?: number | undefined;
  /** Parts in which a rank's records go through the pipeline. Default: one without a pipeline, else twice its stages. */
  readonly microBatches?: number | undefined;
  readonly optimizer?: OptimizerName | undefined;
  /** Of the first step; it falls evenly to nothing at the end. */
  readonly learningRate?: number | undefined;
  /** What gives gradients their order. Default "preemptive": nothing does. */
  readonly schedule?: ScheduleName | undefined;
  /** Threads of each rank that read ahead; 0: it reads by itself. Default 2. */
  readonly loaders?: number | undefined;
}

/** What a run will do, with every default filled in. */
export interface TrainPlan {
  readonly model: string;
  readonly ranks: number;
  readonly parallel: Parallel;
  readonly steps: number;
  readonly seed: number;
  readonly globalBatch: number;
  readonly microBatches: number;
  readonly optimizer: OptimizerName;
  readonly learningRate: number;
  readonly schedule: ScheduleName;
  readonly loaders: number;
}

export const planOptionNames: OptionNames<PlanOptions> = {
  model: true,
  ranks: true,
  parallel: true,
  steps: true,
  seed: true,
  globalBatch: true,
  microBatches: true,
  optimizer: true,
  learningRate: true,
  schedule: true,
  loaders: true,
};

/**
 * Checks a run before anything is started.
 * @throws {ModelError}, {PlanError}, {InvalidArgumentError}, UnknownOptionError
 */
export function planTraining(given: PlanOptions): TrainPlan {
  const options = readOptions(given, planOptionNames, 'an object such as { model: "mnist", ranks: 2 }');
  const { model, ranks, seed = 1, schedule = "preemptive", loaders = 2 } = options;
  checkText("model", model, `one of ${taskNames.join(", ")}`);
  const task = taskByName(model);
  const { defaults } = task;
  const { steps = defaults.steps, globalBatch = defaults.globalBatch } = options;
  const { optimizer = defaults.optimizer, learningRate = defaults.learningRate } = options;
  checkInteger("ranks", ranks, 1, mostRanks);
  checkInteger("steps", steps, 1, mostSteps);
  checkInteger("seed", seed, 0);
  checkInteger("globalBatch", globalBatch, 1);
  checkInteger("loaders", loaders, 0, mostLoaders);
  if (!Number.isFinite(learningRate)) throw new InvalidArgumentError("learningRate", learningRate, "a finite number, such as 0.1");
  if (!scheduleNames.includes(schedule)) throw new InvalidArgumentError("schedule", schedule, `one of ${scheduleNames.join(", ")}`);
  if (!optimizerNames.includes(optimizer)) throw new InvalidArgumentError("optimizer", optimizer, `one of ${optimizerNames.join(", ")}`);
  checkText("parallel", options.parallel ?? "", "a text such as dp=2,tp=2,pp=1");
  const parallel = parseParallel(options.parallel ?? "", ranks);
  checkCuts(model, task, parallel);
  const { microBatches = parallel.pp === 1 ? 1 : 2 * parallel.pp } = options;
  checkInteger("microBatches", microBatches, 1);
  if (globalBatch % (parallel.dp * microBatches) !== 0) {
    const parts = microBatches === 1 ? `${parallel.dp} ranks` : `${parallel.dp} × ${microBatches} micro-batches`;
    throw new PlanError(
      `A global batch of ${globalBatch} records can't be shared among ${parts}`,
      `Give a multiple of ${parallel.dp * microBatches} as batch.`,
      { globalBatch, dp: parallel.dp, microBatches },
    );
  }
  return { model, ranks, parallel, steps, seed, globalBatch, microBatches, optimizer, learningRate, schedule, loaders };
}

function checkCuts(model: string, { divisible }: Task, parallel: Parallel): void {
  for (const [name, what] of [
    ["tp", "parts of a layer"],
    ["pp", "stages"],
  ] as const) {
    const most = divisible[name];
    if (most % parallel[name] === 0) continue;
    const possible = Array.from({ length: most }, (_, i) => i + 1).filter((count) => most % count === 0);
    throw new PlanError(`${model} can't be cut into ${parallel[name]} ${what}`, `Give ${name}=${possible.join(" or ")}.`, {
      model,
      [name]: parallel[name],
    });
  }
}
