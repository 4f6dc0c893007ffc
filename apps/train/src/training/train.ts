import { homedir } from "node:os";
import { join } from "node:path";
import { checkInteger, checkPath, type OptionNames } from "@dfccl/primitives";
import type { Checkpoint } from "../checkpoint/format.js";
import { CheckpointStore } from "../checkpoint/store.js";
import { CheckpointError, InterruptedError, RankLostError } from "../errors.js";
import { runRanks } from "../host/run-ranks.js";
import { taskByName } from "../models/tasks.js";
import { checkCallback, readOptions } from "../read-options.js";
import { workerFile } from "../shipped-file.js";
import { gatherState } from "../state/model-state.js";
import type { StateMemory } from "../state/state-board.js";
import type { TrainingArgs, TrainingReport } from "../training-rank.js";
import { LossCurve } from "./loss-curve.js";
import { type PlanOptions, planOptionNames, planTraining, type TrainPlan } from "./plan.js";
import type { TrainingStep } from "./training-step.js";

export interface TrainOptions extends PlanOptions {
  /** Where data is kept that has to be prepared once. Default: ~/.cache/dfccl. */
  readonly cacheFolder?: string | undefined;
  readonly checkpoint?: CheckpointOptions | undefined;
  /** After each step, when all ranks have ended it. */
  readonly onStep?: ((step: TrainingStep) => void) | undefined;
  /** Stops the run, with a checkpoint where there is a folder for one. */
  readonly signal?: AbortSignal | undefined;
  /** @internal What stands in for the ranks' program, to make it fail. */
  readonly program?: URL | undefined;
}

export interface CheckpointOptions {
  /** The last two are kept there. Another run's that have done more steps get the ending ".former" when this one saves. */
  readonly folder: string;
  /** Steps from one to the next. Default: only at the end, or when the run stops before. */
  readonly every?: number | undefined;
  /** Go on from the newest one that is whole. */
  readonly resume?: boolean | undefined;
  /** Told of each one that is passed over because it is corrupt. */
  readonly onCorrupt?: ((path: string, problem: string) => void) | undefined;
}

export interface TrainResult extends TrainPlan {
  /** Of every step, those of the runs that this one resumed included. */
  readonly losses: readonly number[];
  readonly samplesPerSecond: number;
  /** Milliseconds between the ends of this run's steps. */
  readonly stepMs: readonly number[];
  /** Of the test part: the share that is predicted right. */
  readonly accuracy: number;
  /** The step from which a former run was resumed. */
  readonly resumedAt: number | undefined;
  /** The last one saved. */
  readonly checkpoint: string | undefined;
}

const optionNames: OptionNames<TrainOptions> = {
  ...planOptionNames,
  cacheFolder: true,
  checkpoint: true,
  onStep: true,
  signal: true,
  program: true,
};
const checkpointNames: OptionNames<CheckpointOptions> = { folder: true, every: true, resume: true, onCorrupt: true };

/**
 * Trains a model. All that can be checked is checked before a rank starts.
 * @throws {InvalidArgumentError} for a folder that is none; {UnknownOptionError}, {ModelError}, {PlanError}, {DataMissingError}, {CheckpointError}; {@link RankLostError} when a rank fails and
 *   {@link InterruptedError} after the signal, both with the checkpoint from which to go on.
 */
export async function train(options: TrainOptions): Promise<TrainResult> {
  const read = readOptions(options, optionNames, 'an object such as { model: "mnist", ranks: 2 }');
  const { cacheFolder = join(homedir(), ".cache", "dfccl"), checkpoint: kept, onStep, signal, program, ...planned } = read;
  const plan = planTraining(planned);
  checkPath("cacheFolder", cacheFolder, "/tmp/cache");
  checkCallback("onStep", onStep);
  const checkpoints = kept === undefined ? undefined : readCheckpointOptions(kept);
  const file = taskByName(plan.model).prepare(cacheFolder);
  const run = new TrainingRun(plan, checkpoints, onStep);
  const start = run.resumed?.state;
  const args: TrainingArgs = { plan, file, start, checkpointEvery: run.checkpointEvery, savedStep: run.savedStep };
  try {
    const { ranks, schedule } = plan;
    const results = await runRanks({
      ranks,
      schedule,
      args,
      program: program ?? workerFile("training-rank"),
      onReport: (rank, report) => run.receive(rank, report as TrainingReport),
      signal,
    });
    const checkpoint = run.save();
    const { losses, samplesPerSecond, stepMs } = run.curve;
    const accuracy = results.find((result): result is number => typeof result === "number") ?? Number.NaN;
    return { ...plan, losses, samplesPerSecond, stepMs, accuracy, resumedAt: start?.step, checkpoint };
  } catch (error) {
    throw run.explain(error);
  }
}

function readCheckpointOptions(options: CheckpointOptions): CheckpointOptions {
  const read = readOptions(options, checkpointNames, 'an object such as { folder: "/tmp/checkpoints" }');
  checkPath("checkpoint.folder", read.folder, "/tmp/checkpoints");
  if (read.every !== undefined) checkInteger("checkpoint.every", read.every, 1);
  checkCallback("checkpoint.onCorrupt", read.onCorrupt);
  return read;
}

/** What the thread that started the ranks knows of a run. */
class TrainingRun {
  readonly curve: LossCurve;
  readonly checkpointEvery: number;
  readonly savedStep = new Int32Array(new SharedArrayBuffer(4));
  readonly resumed: Checkpoint | undefined;
  private readonly store: CheckpointStore | undefined;
  private readonly boards = new Map<number, StateMemory>();
  private readonly atCheckpoint = new Map<number, number>();

  constructor(
    private readonly plan: TrainPlan,
    checkpoint: CheckpointOptions | undefined,
    onStep: TrainOptions["onStep"],
  ) {
    this.checkpointEvery = checkpoint?.every ?? 0;
    if (checkpoint !== undefined) {
      this.store = new CheckpointStore(checkpoint.folder);
      if (checkpoint.resume) this.resumed = this.checked(this.store.load(checkpoint.onCorrupt));
      this.store.probe();
    }
    const { steps, globalBatch, parallel } = plan;
    this.curve = new LossCurve({ dp: parallel.dp, steps, globalBatch }, this.resumed?.losses ?? [], onStep);
  }

  receive(rank: number, report: TrainingReport): void {
    if (report.kind === "board") this.boards.set(rank, report.board);
    else if (report.kind === "step" && report.loss !== undefined) this.curve.add(report.step, report.loss);
    else if (report.kind === "checkpoint") this.meet(report.step);
  }

  /** Saves the last step that all ranks have ended, if there is a place for it. @returns where. */
  save(): string | undefined {
    const state = this.boards.size === this.plan.ranks ? gatherState([...this.boards.values()]) : undefined;
    if (state === undefined || this.store === undefined) return undefined;
    const { model, seed, globalBatch, optimizer } = this.plan;
    return this.store.save({ model, seed, globalBatch, optimizer, losses: this.curve.losses.slice(0, state.step), state });
  }

  /** Adds where to go on to an error that ended the run. */
  explain(error: unknown): unknown {
    const isLost = error instanceof RankLostError;
    if (!isLost && !(error instanceof InterruptedError)) return error;
    const { checkpoint, remedy } = this.saveLast();
    return isLost
      ? new RankLostError(error.rank, error.how, { cause: error.cause, remedy, checkpoint })
      : new InterruptedError({ remedy, checkpoint });
  }

  /** What ended the run is said, also where nothing can be saved any more. */
  private saveLast(): { readonly checkpoint: string | undefined; readonly remedy: string } {
    try {
      const checkpoint = this.save();
      const none = "No step was complete, or there is no folder for checkpoints: start again.";
      return { checkpoint, remedy: checkpoint === undefined ? none : `Go on from ${checkpoint} with --resume.` };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { checkpoint: undefined, remedy: `${reason} Go on from an older one with --resume, if there is one, or start again.` };
    }
  }

  /** A rank waits for a checkpoint; the last to come gets it saved. */
  private meet(step: number): void {
    const waiting = (this.atCheckpoint.get(step) ?? 0) + 1;
    this.atCheckpoint.set(step, waiting);
    if (waiting < this.plan.ranks) return;
    this.atCheckpoint.delete(step);
    this.save();
    Atomics.store(this.savedStep, 0, step);
    Atomics.notify(this.savedStep, 0);
  }

  private checked(checkpoint: Checkpoint): Checkpoint {
    for (const name of ["model", "seed", "globalBatch", "optimizer"] as const) {
      if (checkpoint[name] === this.plan[name]) continue;
      throw new CheckpointError(
        `The checkpoint is of a run with ${name} ${checkpoint[name]}, and this one has ${this.plan[name]}`,
        "Give what that run had, or start without --resume.",
        { name, theirs: checkpoint[name], ours: this.plan[name] },
      );
    }
    const { step } = checkpoint.state;
    if (step >= this.plan.steps) {
      throw new CheckpointError(`The checkpoint has done ${step} steps already`, `Give more than ${step} steps.`, {
        step,
        steps: this.plan.steps,
      });
    }
    return checkpoint;
  }
}
