import { checkOptions, InvalidArgumentError, type OptionNames, readArgument } from "@dfccl/primitives";
import type { ActorPlan, Kernel } from "../actors/plan.js";
import { runActors } from "../actors/run-actors.js";
import { VirtualClock } from "../actors/virtual-clock.js";
import { PlanBuilder, streams } from "../graph/plan-builder.js";
import { readFields } from "../read-fields.js";
import { checkMicroBatches, checkStages, type PipelineCounts, readCounts } from "./counts.js";

export interface PipelineOptions {
  /** From 1 to 65,536. */
  readonly stages: number;
  /** From 1; stages × micro-batches are 2^22 at most. */
  readonly microBatches: number;
  readonly counts: PipelineCounts;
  /** Times of a pass, finite numbers from 0; default 1 and 2. */
  readonly forwardMs?: number;
  readonly backwardMs?: number;
}

const optionNames: OptionNames<PipelineOptions> = { stages: true, microBatches: true, counts: true, forwardMs: true, backwardMs: true };

/** One pass of a micro-batch through a stage. */
export interface Pass {
  readonly stage: number;
  readonly pass: "forward" | "backward";
  readonly microBatch: number;
  readonly beganAt: number;
  readonly endedAt: number;
}

/**
 * Runs a pipeline of actors in virtual time: nothing schedules it but its registers. Of two passes that can go, a stage takes
 * the forward one. It takes time and memory in proportion to stages × micro-batches.
 * @returns each stage's passes in their order.
 * @throws {InvalidArgumentError}, PlanError; rejects with ActorsStuckError where the counts don't suffice.
 */
export async function simulatePipeline(options: PipelineOptions): Promise<readonly (readonly Pass[])[]> {
  const read = readOptions(options);
  const clock = new VirtualClock();
  const passes: Pass[][] = Array.from({ length: read.stages }, () => []);
  const { finished } = runActors(pipelinePlan(read, clock), {
    clock,
    allocate: () => nothing,
    bus: { send: (message, deliver) => void clock.after(0, () => deliver(message)) },
    onAct: ({ task, act, beganAt, endedAt }) => {
      const [, pass, stage] = /^(forward|backward) @(\d+)$/.exec(task) ?? [];
      if (pass === undefined) return;
      passes[Number(stage)]?.push({ stage: Number(stage), pass: pass as Pass["pass"], microBatch: act, beganAt, endedAt });
    },
  });
  clock.run();
  await finished;
  return passes;
}

/** Nothing is computed: registers carry order alone. */
const nothing = new Float32Array(0);

function readOptions(options: PipelineOptions): Required<PipelineOptions> {
  const example = "an object such as { stages: 4, microBatches: 8, counts: oneFlowCounts(4) }";
  checkOptions("options", options, optionNames, example);
  const { stages, microBatches, counts, forwardMs = 1, backwardMs = 2 } = readFields("options", options, optionNames, example);
  checkStages(stages);
  checkMicroBatches(microBatches, stages);
  for (const [name, value] of Object.entries({ forwardMs, backwardMs })) {
    if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError(name, value, "milliseconds, a finite number from 0");
  }
  return { stages, microBatches, counts: readCounts(counts), forwardMs, backwardMs };
}

function pipelinePlan({ stages, microBatches, counts, forwardMs, backwardMs }: Required<PipelineOptions>, clock: VirtualClock): ActorPlan {
  const builder = new PlanBuilder();
  // No more results are ever outstanding than there are micro-batches.
  const atMost = (count: number): number => (Number.isSafeInteger(count) ? Math.min(count, microBatches) : count);
  const countOf = (name: "forward" | "buffer", stage: number): number =>
    atMost(readArgument(`counts.${name}`, "a function of the stage that returns a count", () => counts[name](stage)));
  const lasts =
    (ms: number): Kernel =>
    (_act, done) =>
      void clock.after(ms, done);
  const passes: number[] = [];
  let arriving: number[] = [];
  for (let stage = 0; stage < stages; stage += 1) {
    const result = builder.add({
      rank: stage,
      stream: streams.compute,
      name: "forward",
      inputs: arriving,
      kernel: lasts(forwardMs),
      output: { elements: 0, count: countOf("forward", stage) },
      ...(stage === 0 ? { records: microBatches } : {}),
    }).register;
    const buffer = countOf("buffer", stage);
    passes.push(buffer === 0 ? result : copy(builder, stage, "buffer", result, buffer));
    if (stage < stages - 1) arriving = [copy(builder, stage + 1, "arrival", result, atMost(counts.arrival))];
  }
  let gradient = counts.packed === undefined ? [] : [packAll(builder, stages - 1, passes[stages - 1] ?? -1, counts.packed)];
  for (let stage = stages - 1; stage >= 0; stage -= 1) {
    const kernel = lasts(backwardMs);
    const inputs = [passes[stage] ?? -1, ...gradient];
    const { register } = builder.add({ rank: stage, stream: streams.compute, name: "backward", inputs, kernel, output: { elements: 0 } });
    gradient = stage === 0 ? [] : [copy(builder, stage - 1, "arrival of the gradient", register, 1)];
  }
  return builder.build();
}

/** The loss of so many micro-batches: it comes when all are there, and then for each. */
function packAll(builder: PlanBuilder, rank: number, input: number, times: number): number {
  const kernel: Kernel = (_act, done) => done();
  const base = { rank, stream: streams.copy, kernel };
  const pack = builder.add({ ...base, name: "pack", inputs: [input], output: { elements: 0 }, rhythm: { actsPerOutput: times } });
  return builder.add({ ...base, name: "repeat", inputs: [pack.register], output: { elements: 0 }, rhythm: { actsPerInput: times } })
    .register;
}

/** An identity that takes no time, for its registers. */
function copy(builder: PlanBuilder, rank: number, name: string, input: number, count: number): number {
  const kernel: Kernel = (_act, done) => done();
  return builder.add({ rank, stream: streams.copy, name, inputs: [input], kernel, output: { elements: 0, count } }).register;
}
