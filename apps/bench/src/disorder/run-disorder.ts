import { type Backend, openWorld, type World } from "@dfccl/core";
import { noProgress } from "../terminal/progress.js";
import { elementsOf } from "../workloads/workload.js";
import { checkRunContext, readDisorderOptions } from "./check-disorder.js";
import type { DisorderOptions, RunContext } from "./disorder-options.js";
import { countWrong, runIteration } from "./iteration.js";
import { Latencies } from "./latencies.js";
import { makeBuffers, prepare } from "./setting.js";
import { type Action, actionsOf } from "./submission-order.js";

export type { DisorderOptions, RunContext } from "./disorder-options.js";

export interface DisorderResult {
  /** Where it executed. */
  readonly backend: Backend;
  /** Runs, over all ranks of this process, that should complete. */
  readonly expected: number;
  readonly completed: number;
  /** Completed runs whose result differs in some bit. */
  readonly wrong: number;
  /** The run was interrupted before its end. */
  readonly partial: boolean;
  /** Iterations that are done. */
  readonly iterationsDone: number;
  readonly synchronizations: number;
  /** Over all blocks of all ranks. */
  readonly preemptions: number;
  readonly preemptionsPerBlock: number;
  readonly quits: number;
  readonly meanQueueLength: number;
  readonly maxQueueLength: number;
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
  /** Communicating, without the comparison of results. */
  readonly seconds: number;
  /** All-reduce bus bandwidth as nccl-tests counts it, 2(n−1)/n of the bytes. */
  readonly busBandwidthGBs: number;
}

/** Every rank submits every tensor in an order of its own, iteration after iteration; every result is compared bit for bit. @throws {InvalidArgumentError}, UnknownOptionError */
export async function runDisorder(given: DisorderOptions, context: RunContext = {}): Promise<DisorderResult> {
  const options = readDisorderOptions(given);
  checkRunContext(context);
  const { workload, ranks, iterations, policy = "default", backend = "cpu" } = options;
  const { progress = noProgress, signal } = context;
  using own = context.world === undefined ? openWorld({ ranks, policy, backend }) : undefined;
  const world: World<Backend> = own ?? context.world ?? openWorld({ ranks, policy, backend });
  const setting = await prepare(world, workload, context.buffers ?? makeBuffers(workload, ranks, options.seed));
  const latencies = new Latencies();
  const expected = world.ranks.length * workload.tensors.length * iterations;
  let [completed, wrong, synchronizations, seconds, iteration] = [0, 0, 0, 0, 0];
  const note = (): string => `iteration ${iteration + 1} of ${iterations}, ${wrong === 0 ? "all exact" : `${wrong} wrong`}`;
  const onComplete = (milliseconds: number): void => {
    completed += 1;
    latencies.add(milliseconds);
    progress.update(completed, note());
  };
  const onSynchronize = (): void => {
    synchronizations += 1;
  };
  let counters = summarizeCounters(world);
  for (; iteration < iterations && !signal?.aborted; iteration += 1) {
    const actions = actionsOfAll(options, iteration);
    const began = performance.now();
    const completions = await runIteration(setting, iteration, actions, { onComplete, onSynchronize, ...(signal ? { signal } : {}) });
    seconds += (performance.now() - began) / 1000;
    counters = summarizeCounters(world);
    if (!signal?.aborted) await setting.fetch?.();
    // What is in flight must not be written any more while its neighbours are compared.
    if (signal?.aborted) world.close();
    wrong += countWrong(setting, workload, iteration, completions);
    if (signal?.aborted) break;
  }
  return {
    backend: world.backend,
    expected,
    completed,
    wrong,
    partial: signal?.aborted === true && completed < expected,
    iterationsDone: iteration,
    synchronizations,
    ...counters,
    latencyP50Ms: latencies.percentile(0.5),
    latencyP99Ms: latencies.percentile(0.99),
    seconds,
    busBandwidthGBs: busBandwidth((completed / world.ranks.length / workload.tensors.length) * 4 * elementsOf(workload), ranks, seconds),
  };
}

/** `[rank]`: what each rank does in an iteration. */
export function actionsOfAll(options: DisorderOptions, iteration: number): Action[][] {
  const { order, ranks, sync, seed, workload } = options;
  const orderOptions = { order, ranks, sync, seed, tensors: workload.tensors.length };
  return Array.from({ length: ranks }, (_, rank) => actionsOf(orderOptions, rank, iteration));
}

function busBandwidth(bytes: number, ranks: number, seconds: number): number {
  return seconds > 0 ? (bytes * ((2 * (ranks - 1)) / ranks)) / seconds / 1e9 : 0;
}

function summarizeCounters(
  world: World<Backend>,
): Pick<DisorderResult, "preemptions" | "preemptionsPerBlock" | "quits" | "meanQueueLength" | "maxQueueLength"> {
  const counters = world.ranks.map((rank) => rank.counters());
  const blocks = counters.flatMap((ofRank) => ofRank.blocks);
  const preemptions = blocks.reduce((sum, block) => sum + block.preemptions, 0);
  const visits = blocks.reduce((sum, block) => sum + block.visits, 0);
  return {
    preemptions,
    preemptionsPerBlock: preemptions / blocks.length,
    quits: counters.reduce((sum, { quits }) => sum + quits, 0),
    meanQueueLength: blocks.reduce((sum, block) => sum + block.meanQueueLength * block.visits, 0) / Math.max(1, visits),
    maxQueueLength: Math.max(...blocks.map((block) => block.maxQueueLength)),
  };
}
