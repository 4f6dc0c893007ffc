import { checkOptions, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import type { ActorPlan, Kernel } from "../actors/plan.js";
import { runActors } from "../actors/run-actors.js";
import { VirtualClock } from "../actors/virtual-clock.js";
import { PlanBuilder, streams } from "../graph/plan-builder.js";

/** Register counts of a pipeline's stages, which are all that orders it. */
export interface PipelineCounts {
  /** Of a stage's forward results; both the next stage and its own backward pass read them. */
  readonly forward: (stage: number) => number;
  /** Of the buffer between a stage's forward and backward pass; 0: none, the backward pass reads the forward result itself. */
  readonly buffer: (stage: number) => number;
  /** Of what arrives at the next stage. */
  readonly arrival: number;
  /** Forward results that the last stage packs before the first backward pass; default 1. More registers than that must lie beside it. */
  readonly packed?: number;
}

/** OneFlow's: 2S between the passes, none in the last stage, 1 elsewhere. */
export function oneFlowCounts(stages: number): PipelineCounts {
  return { forward: () => 1, buffer: (stage) => (stage < stages - 1 ? 2 * stages : 0), arrival: 1 };
}

/** The least that keeps all stages busy: stage s has S − s results outstanding. The classical one forward, one backward. */
export function leastCounts(stages: number): PipelineCounts {
  return { forward: () => 1, buffer: (stage) => stages - 1 - stage, arrival: 1 };
}

/** Everything packed in the last stage, and room for it in every stage: all forward passes go before the first backward one, as in GPipe. */
export function gpipeCounts(microBatches: number): PipelineCounts {
  return { forward: () => 1, buffer: () => microBatches, arrival: 1, packed: microBatches };
}

export interface PipelineOptions {
  readonly stages: number;
  readonly microBatches: number;
  readonly counts: PipelineCounts;
  /** Times of a pass; default 1 and 2. */
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
 * the forward one.
 * @returns each stage's passes in their order.
 * @throws {InvalidArgumentError}, PlanError; rejects with ActorsStuckError where the counts don't suffice.
 */
export async function simulatePipeline(options: PipelineOptions): Promise<readonly (readonly Pass[])[]> {
  checkOptions("options", options, optionNames, "an object such as { stages: 4, microBatches: 8, counts: oneFlowCounts(4) }");
  const { stages, microBatches } = options;
  for (const [name, value] of Object.entries({ stages, microBatches })) {
    if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError(name, value, "a whole number from 1");
  }
  const clock = new VirtualClock();
  const passes: Pass[][] = Array.from({ length: stages }, () => []);
  const { finished } = runActors(pipelinePlan(options, clock), {
    clock,
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

function pipelinePlan({ stages, microBatches, counts, forwardMs = 1, backwardMs = 2 }: PipelineOptions, clock: VirtualClock): ActorPlan {
  const builder = new PlanBuilder();
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
      output: { elements: 1, count: counts.forward(stage) },
      ...(stage === 0 ? { records: microBatches } : {}),
    }).register;
    passes.push(counts.buffer(stage) === 0 ? result : copy(builder, stage, "buffer", result, counts.buffer(stage)));
    if (stage < stages - 1) arriving = [copy(builder, stage + 1, "arrival", result, counts.arrival)];
  }
  let gradient = counts.packed === undefined ? [] : [packAll(builder, stages - 1, passes[stages - 1] ?? -1, counts.packed)];
  for (let stage = stages - 1; stage >= 0; stage -= 1) {
    const kernel = lasts(backwardMs);
    const inputs = [passes[stage] ?? -1, ...gradient];
    const { register } = builder.add({ rank: stage, stream: streams.compute, name: "backward", inputs, kernel, output: { elements: 1 } });
    gradient = stage === 0 ? [] : [copy(builder, stage - 1, "arrival of the gradient", register, 1)];
  }
  return builder.build();
}

/** The loss of so many micro-batches: it comes when all are there, and then for each. */
function packAll(builder: PlanBuilder, rank: number, input: number, times: number): number {
  const kernel: Kernel = (_act, done) => done();
  const base = { rank, stream: streams.copy, kernel };
  const pack = builder.add({ ...base, name: "pack", inputs: [input], output: { elements: 1 }, rhythm: { actsPerOutput: times } });
  return builder.add({ ...base, name: "repeat", inputs: [pack.register], output: { elements: 1 }, rhythm: { actsPerInput: times } })
    .register;
}

/** An identity that takes no time, for its registers. */
function copy(builder: PlanBuilder, rank: number, name: string, input: number, count: number): number {
  const kernel: Kernel = (_act, done) => done();
  return builder.add({ rank, stream: streams.copy, name, inputs: [input], kernel, output: { elements: 1, count } }).register;
}
