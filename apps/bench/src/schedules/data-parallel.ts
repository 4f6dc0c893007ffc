import { coreCommunicator, type GradientReducer, inProcessTransports, openReducer, type ReducerOptions } from "@dfccl/actor";
import { openWorld } from "@dfccl/core";
import { Random } from "../disorder/random.js";
import { BenchError } from "../peers/bench-error.js";
import { elementsOf, type Workload } from "../workloads/workload.js";
import { interleave, type Timing } from "./interleave.js";
import { passUntil } from "./pass-time.js";

/** Schedules, and the coordinator once more with Horovod's copies: on a CPU these are work that a GPU's memory would do. */
export const contenderNames = ["preemptive", "static", "coordinator", "coordinator, copying", "learned"] as const;
export type ContenderName = (typeof contenderNames)[number];

const settingsOf: Readonly<Record<ContenderName, Pick<ReducerOptions, "schedule" | "coordinator">>> = {
  preemptive: { schedule: "preemptive" },
  static: { schedule: "static" },
  coordinator: { schedule: "coordinator", coordinator: { isCopied: false } },
  "coordinator, copying": { schedule: "coordinator", coordinator: { isCopied: true } },
  learned: { schedule: "learned" },
};

export interface DataParallelOptions {
  readonly workload: Workload;
  readonly ranks: number;
  readonly schedules: readonly ContenderName[];
  readonly rounds: number;
  /** Of each schedule in a round. */
  readonly steps: number;
  /** That a rank computes in a step: a third forward, the rest backward, where gradients become ready one by one. */
  readonly computeMs: number;
  /** Largest deviation of a rank's computing time in a step, as a share. */
  readonly jitter: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onStep: (schedule: string) => void;
}

const warmUpSteps = 12;

interface RankState {
  readonly reducer: GradientReducer;
  readonly gradients: readonly Float32Array[];
  readonly random: Random;
}

/**
 * Data parallelism with synthetic gradients: devices compute for a given time, gradients of the real sizes become ready on the way,
 * in the order of the backward pass with neighbours swapped at random on each rank. All schedules run on one world, in turns.
 * @throws {BenchError} WRONG_RESULTS where a gradient isn't the mean of all ranks.
 */
export async function measureDataParallel(options: DataParallelOptions): Promise<Timing[]> {
  const { workload, ranks, schedules } = options;
  const count = workload.tensors.length;
  using world = openWorld({ ranks, maxCollectives: 8192 });
  const gradients = world.ranks.map((rank) => workload.tensors.map(({ elements }) => rank.allocate("float32", elements)));
  const contenders = schedules.map((schedule, index) => {
    const transports = inProcessTransports(ranks);
    // Fused all-reduces take up to 1024 ids behind the tensors' own.
    const firstId = index * (count + 1024);
    const tensors = workload.tensors.map(({ name, elements }, tensor) => ({
      id: firstId + tensor,
      name,
      elements,
      priority: count - tensor,
    }));
    const states = world.ranks.map((rank): RankState => {
      const transport = transports[rank.number];
      const reducer = openReducer({
        communicator: coreCommunicator(rank),
        tensors,
        ...settingsOf[schedule],
        ...(transport ? { transport } : {}),
      });
      return { reducer, gradients: gradients[rank.number] ?? [], random: new Random(options.seed, index, rank.number) };
    });
    return { name: schedule, step: () => Promise.all(states.map((state) => stepOf(state, firstId, options))).then(() => undefined) };
  });
  // The first steps register, learn the order, and touch memory; the coordinator meets a new mixture of gradients for some steps more.
  for (const { step } of contenders) for (let time = 0; time < warmUpSteps; time += 1) await step();
  for (const [rank, parts] of gradients.entries()) for (const part of parts) part.fill(rank);
  const timings = await interleave(contenders, options);
  checkMeans(gradients, (ranks - 1) / 2);
  return timings;
}

async function stepOf({ reducer, gradients, random }: RankState, firstId: number, options: DataParallelOptions): Promise<void> {
  const { workload, computeMs, jitter } = options;
  const total = computeMs * (1 + jitter * (2 * random.fraction() - 1));
  const began = performance.now();
  const elements = elementsOf(workload);
  let at = began + total / 3;
  for (const tensor of backwardOrder(workload.tensors.length, random)) {
    at += ((2 * total) / 3) * ((workload.tensors[tensor]?.elements ?? 0) / elements);
    await passUntil(at);
    const gradient = gradients[tensor];
    if (gradient !== undefined) reducer.ready(firstId + tensor, gradient);
  }
  await reducer.endStep();
}

/** Last tensor first; a rank finds neighbours ready in either order. */
function backwardOrder(count: number, random: Random): number[] {
  const order = Array.from({ length: count }, (_, index) => count - 1 - index);
  for (let index = 0; index + 1 < count; index += 1 + random.below(4)) {
    const [a = 0, b = 0] = order.slice(index, index + 2);
    order[index] = b;
    order[index + 1] = a;
  }
  return order;
}

function checkMeans(gradients: readonly (readonly Float32Array[])[], mean: number): void {
  for (const [rank, parts] of gradients.entries()) {
    for (const [tensor, part] of parts.entries()) {
      if (part[0] === mean && part.at(-1) === mean) continue;
      const what = `Gradient ${tensor} of rank ${rank} is ${part[0]} instead of the mean, ${mean}.`;
      throw new BenchError("WRONG_RESULTS", what, "Its time says nothing; find out why first.", { rank, tensor });
    }
  }
}
