import { homedir } from "node:os";
import { join } from "node:path";
import type { ScheduleName } from "@dfccl/actor";
import { PlanError } from "../errors.js";
import { runRanks } from "../host/run-ranks.js";
import { taskByName } from "../models/tasks.js";
import type { TrainingArgs } from "../training-rank.js";
import { workerFile } from "../worker-file.js";

export interface TrainOptions {
  /** What to train: one of `taskNames`. */
  readonly model: string;
  /** Ranks, each a thread. */
  readonly ranks: number;
  /** Default: the model's. */
  readonly steps?: number | undefined;
  /** Decides the first parameters and the order of the data. Default 1. */
  readonly seed?: number | undefined;
  /** Records of all ranks in a step; a multiple of the ranks. Default: the model's. */
  readonly globalBatch?: number | undefined;
  /** Default: the model's. */
  readonly learningRate?: number | undefined;
  /** What gives gradients their order. Default "preemptive": nothing does. */
  readonly schedule?: ScheduleName | undefined;
  /** Where data is kept that has to be prepared once. Default: ~/.cache/dfccl. */
  readonly cacheFolder?: string | undefined;
  /** After each step, when all ranks have ended it. */
  readonly onStep?: ((step: TrainingStep) => void) | undefined;
}

export interface TrainingStep {
  /** From 1. */
  readonly step: number;
  readonly steps: number;
  /** Mean over the global batch, before the step's update. */
  readonly loss: number;
  /** Since the first step ended. */
  readonly samplesPerSecond: number;
}

export interface TrainResult extends TrainPlan {
  readonly losses: readonly number[];
  readonly samplesPerSecond: number;
  /** Of the test part: the share that is predicted right. */
  readonly accuracy: number;
}

/** What a run would do, with every default filled in. */
export interface TrainPlan extends Pick<TrainOptions, "model" | "ranks"> {
  readonly schedule: ScheduleName;
  readonly steps: number;
  readonly seed: number;
  readonly globalBatch: number;
  readonly learningRate: number;
}

/**
 * Checks a run before anything is started.
 * @throws {ModelError}, {PlanError}
 */
export function describePlan(options: TrainOptions): TrainPlan {
  const { model, ranks, seed = 1, schedule = "preemptive" } = options;
  const { defaults } = taskByName(model);
  const { steps = defaults.steps, globalBatch = defaults.globalBatch, learningRate = defaults.learningRate } = options;
  if (globalBatch % ranks !== 0) {
    throw new PlanError(
      `A global batch of ${globalBatch} records can't be shared among ${ranks} ranks`,
      `Give a multiple of ${ranks} as batch, or other ranks.`,
      { globalBatch, ranks },
    );
  }
  return { model, ranks, seed, schedule, steps, globalBatch, learningRate };
}

/**
 * Trains a model, data parallel. All that can be checked is checked before a rank starts.
 * @throws {ModelError}, {PlanError}, {DataMissingError}; {@link RankLostError} when a rank fails.
 */
export async function train(options: TrainOptions): Promise<TrainResult> {
  const plan = describePlan(options);
  const { model, ranks, schedule, seed, steps, globalBatch, learningRate } = plan;
  const file = taskByName(model).prepare(options.cacheFolder ?? join(homedir(), ".cache", "dfccl"));
  const args: TrainingArgs = { model, file, seed, steps, globalBatch, learningRate };
  const progress = new LossCurve(ranks, steps, globalBatch, options.onStep);
  const accuracies = await runRanks({
    ranks,
    schedule,
    args,
    program: workerFile("training-rank"),
    onReport: (_rank, value) => progress.add(value as { step: number; loss: number }),
  });
  const { losses, samplesPerSecond } = progress;
  return { ...plan, losses, samplesPerSecond, accuracy: Number(accuracies[0]) };
}

/** Puts the ranks' losses together, and tells how fast the steps follow each other. */
class LossCurve {
  readonly losses: number[] = [];
  samplesPerSecond = 0;
  private readonly sums: { sum: number; ranks: number }[] = [];
  private begin: number | undefined;

  constructor(
    private readonly ranks: number,
    private readonly steps: number,
    private readonly globalBatch: number,
    private readonly onStep: ((step: TrainingStep) => void) | undefined,
  ) {}

  add({ step, loss }: { step: number; loss: number }): void {
    const entry = this.sums[step] ?? { sum: 0, ranks: 0 };
    this.sums[step] = entry;
    entry.sum += loss;
    entry.ranks += 1;
    if (entry.ranks < this.ranks) return;
    this.losses[step] = entry.sum / this.ranks;
    this.begin ??= performance.now();
    const seconds = (performance.now() - this.begin) / 1000;
    if (step > 0 && seconds > 0) this.samplesPerSecond = (step * this.globalBatch) / seconds;
    this.onStep?.({ step: step + 1, steps: this.steps, loss: entry.sum / this.ranks, samplesPerSecond: this.samplesPerSecond });
  }
}
