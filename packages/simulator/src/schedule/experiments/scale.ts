import { policyByName } from "@dfccl/scheduler";
import { RandomStream } from "../../deadlock/random-stream.js";
import { gpuCosts, type HostAction, type SimulatedCollective } from "../scenario.js";
import { simulateSchedule } from "../simulate-schedule.js";
import { infiniband, islands } from "../topology.js";

export interface ScaleResult {
  readonly gpus: number;
  readonly collectives: number;
  readonly events: number;
  readonly seconds: number;
  readonly heapBytes: number;
  /** With the same order everywhere and with neighbours swapped on some GPUs, both under preemption. */
  readonly endNs: number;
  readonly disorderedEndNs: number;
  readonly preemptionsPerGpu: number;
}

/** Sizes of 3D-parallel groups for a number of GPUs: tp · dp · pp. */
export const scales: readonly (readonly [tp: number, dp: number, pp: number])[] = [
  [8, 1, 1],
  [8, 10, 1],
  [8, 10, 10],
  [8, 10, 100],
  [8, 10, 1250],
];

const perTpGroup = 2;
const [tpBytes, dpBytes] = [1_000_000, 400_000];
const submitEveryNs = 50_000;
const swapProbability = 0.2;

/** A few collectives of every tensor- and data-parallel group, on machines of eight GPUs. */
export function simulateScale([tp, dp, pp]: readonly [number, number, number], seed = 1): ScaleResult {
  const started = performance.now();
  const gpus = tp * dp * pp;
  const collectives: SimulatedCollective[] = [];
  const lists: number[][] = Array.from({ length: gpus }, () => []);
  const add = (ranks: readonly number[], bytes: number): void => {
    for (const rank of ranks) lists[rank]?.push(collectives.length);
    collectives.push({ bytes, ranks, priority: 0 });
  };
  const range = (length: number): number[] => Array.from({ length }, (_, i) => i);
  for (let stage = 0; stage < pp; stage += 1) {
    const first = stage * tp * dp;
    for (let i = 0; i < perTpGroup; i += 1)
      for (const d of range(dp))
        add(
          range(tp).map((t) => first + d * tp + t),
          tpBytes,
        );
    for (const t of range(tp))
      add(
        range(dp).map((d) => first + d * tp + t),
        dpBytes,
      );
  }
  const run = (isDisordered: boolean) => {
    const random = new RandomStream();
    const hosts = lists.map((list, rank) => {
      const order = [...list];
      random.seed(seed, rank, 0);
      for (let i = 1; i < order.length; i += 1) {
        const [a = 0, b = 0] = [order[i - 1], order[i]];
        if (isDisordered && random.uniform() < swapProbability) [order[i - 1], order[i]] = [b, a];
      }
      return order.map((collective, i): HostAction => ({ atNs: i * submitEveryNs, collective }));
    });
    return simulateSchedule({
      topology: { ranksPerIsland: 8, island: islands.nvlink, network: infiniband },
      costs: gpuCosts,
      policy: policyByName("adaptive"),
      collectives,
      hosts,
    });
  };
  const [ordered, disordered] = [run(false), run(true)];
  return {
    gpus,
    collectives: collectives.length,
    events: ordered.events + disordered.events,
    seconds: (performance.now() - started) / 1000,
    heapBytes: process.memoryUsage().heapUsed,
    endNs: ordered.endNs,
    disorderedEndNs: disordered.endNs,
    preemptionsPerGpu: disordered.preemptions / gpus,
  };
}
