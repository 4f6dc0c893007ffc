import { checkList, readPlain } from "@dfccl/primitives";
import { simulationPolicy } from "@dfccl/scheduler";
import { RandomStream } from "../../deadlock/random-stream.js";
import { checkTime } from "../check-scenario.js";
import { gpuCosts } from "../scenario.js";
import { simulateSchedule } from "../simulate-schedule.js";
import { infiniband, islands } from "../topology.js";

/** Time and preemptions with one spin threshold. */
export interface ValleyPoint {
  readonly threshold: number;
  /** Mean over the seeds. */
  readonly endNs: number;
  readonly preemptions: number;
}

const ranks = [0, 1, 2, 3, 4, 5, 6, 7];
const collectiveCount = 40;
const bytes = 8_000_000;
const seeds = 3;
const mostLateNs = 20_000;
const mostSwitchNs = 1e9;
const swapProbability = 0.05;

/**
 * Nearly equal orders under one fixed threshold after the other: too low, and a collective is preempted just before its data
 * comes; too high, and ranks wait long for what their peers don't run. How deep the valley is depends on what a context
 * switch costs. @see DFCCL, expression 2: T ~ N + 1/N
 */
export function simulateValley(thresholds: readonly number[], switchNs: number): readonly ValleyPoint[] {
  checkList("thresholds", thresholds, "a list such as [100, 1000]");
  checkTime("switchNs", switchNs, mostSwitchNs);
  return readPlain("thresholds", thresholds).map((threshold) => {
    const policy = simulationPolicy("fixed", {
      stickiness: { initialThreshold: threshold, minimumThreshold: 1, maximumThreshold: threshold },
      quit: { idleVisits: 4_000_000, residencyTicks: 0 },
    });
    const results = Array.from({ length: seeds }, (_, seed) =>
      simulateSchedule({
        topology: { ranksPerIsland: 8, island: islands.nvlink, network: infiniband },
        costs: { ...gpuCosts, switchNs },
        policy,
        collectives: Array.from({ length: collectiveCount }, () => ({ bytes, ranks, priority: 0 })),
        hosts: ranks.map((rank) => {
          const random = new RandomStream().seed(seed, rank, 0);
          const atNs = random.uniform() * mostLateNs;
          return nearlyOrdered(collectiveCount, random).map((collective) => ({ atNs, collective }));
        }),
      }),
    );
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    return { threshold, endNs: mean(results.map(({ endNs }) => endNs)), preemptions: mean(results.map(({ preemptions }) => preemptions)) };
  });
}

function nearlyOrdered(count: number, random: RandomStream): readonly number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = 1; i < count; i += 1) {
    const [a = 0, b = 0] = [order[i - 1], order[i]];
    if (random.uniform() < swapProbability) [order[i - 1], order[i]] = [b, a];
  }
  return order;
}
