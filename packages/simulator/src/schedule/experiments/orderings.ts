import { checkInteger, checkObject, readPlain } from "@dfccl/primitives";
import { type SchedulePolicy, simulationPolicy } from "@dfccl/scheduler";
import { checkProbability } from "../../check-probability.js";
import { RandomStream } from "../../deadlock/random-stream.js";
import { checkAbove0, checkTime } from "../check-scenario.js";
import { gpuCosts, type HostAction } from "../scenario.js";
import { simulateSchedule } from "../simulate-schedule.js";
import { infiniband, islands } from "../topology.js";

/** Ways to keep ranks from deadlocking, after DFCCL's section 2.5; "none" is the control. */
export const orderings = [
  "none",
  "Horovod: coordinator",
  "BytePS: root of a node",
  "KungFu: learned order",
  "OneFlow: static order",
  "Megatron: manual order",
  "Pathways: central scheduler",
  "preemption",
] as const;
export type Ordering = (typeof orderings)[number];

export interface OrderingResult {
  readonly ordering: Ordering;
  readonly hasSynchronizations: boolean;
  /** False: deadlock. */
  readonly finished: boolean;
  readonly endNs: number;
  /** From a collective's readiness on its last rank to its completion, mean. */
  readonly latencyNs: number;
  /** Of coordination, in the iteration simulated; KungFu's are of the first only. */
  readonly messages: number;
}

export interface OrderingWorkload {
  readonly ranks: number;
  readonly ranksPerIsland: number;
  readonly collectives: number;
  readonly bytes: number;
  readonly readyEveryNs: number;
  /** How much earlier or later a gradient may be ready on a rank. */
  readonly jitterNs: number;
  readonly synchronizationProbability: number;
}

export const orderingWorkload: OrderingWorkload = {
  ranks: 8,
  ranksPerIsland: 8,
  collectives: 160,
  bytes: 635_000,
  readyEveryNs: 100_000,
  jitterNs: 200_000,
  synchronizationProbability: 0.02,
};

// Daemons that wait longer than this quit and begin again millions of times.
const mostNs = 1e9;

/** Horovod's default cycle is 1 ms in recent versions. */
const coordinatorCycleNs = 1_000_000;
// Of a control message between hosts.
const messageNs = 20_000;
const withoutPreemption = simulationPolicy("in-order", { streams: 1 });

interface Plan {
  /** `order[rank]`: collectives as the rank submits them; `atNs` of each. */
  readonly hosts: readonly (readonly HostAction[])[];
  readonly messages: number;
  readonly policy: SchedulePolicy;
}

/**
 * The same workload under every ordering, without and with synchronizations. A coordinator is simulated by when it lets a
 * rank submit: that adds its latency to what is ready; an order that is fixed makes what is ready wait for what isn't.
 */
export function simulateOrderings(seed: number, given: OrderingWorkload = orderingWorkload): readonly OrderingResult[] {
  checkInteger("seed", seed, 0);
  const workload = readWorkload(given);
  const ready = readyTimes(workload, seed);
  const lastReady = Array.from({ length: workload.collectives }, (_, c) => Math.max(...ready.map((times) => times[c] ?? 0)));
  return [false, true].flatMap((hasSynchronizations) =>
    orderings.map((ordering) => {
      const { hosts, messages, policy } = plan(ordering, ready, lastReady, workload);
      const result = simulateSchedule({
        topology: { ranksPerIsland: workload.ranksPerIsland, island: islands.pcie, network: infiniband },
        costs: gpuCosts,
        policy,
        collectives: lastReady.map(() => ({
          bytes: workload.bytes,
          ranks: Array.from({ length: workload.ranks }, (_, rank) => rank),
          priority: 0,
        })),
        hosts: hasSynchronizations ? withSynchronizations(hosts, workload, seed) : hosts,
      });
      const latencies = result.completedAtNs.map((completed, c) => completed - (lastReady[c] ?? 0)).filter(Number.isFinite);
      const latencyNs = latencies.reduce((sum, latency) => sum + latency, 0) / Math.max(latencies.length, 1);
      return { ordering, hasSynchronizations, finished: result.finished, endNs: result.endNs, latencyNs, messages };
    }),
  );
}

function plan(ordering: Ordering, ready: readonly (readonly number[])[], lastReady: readonly number[], workload: OrderingWorkload): Plan {
  const byReadiness = ready.map((times) => sorted(times).map((collective) => ({ atNs: times[collective] ?? 0, collective })));
  const ranks = ready.length;
  const count = lastReady.length;
  switch (ordering) {
    case "none":
      return { hosts: byReadiness, messages: 0, policy: withoutPreemption };
    case "preemption":
      return { hosts: byReadiness, messages: 0, policy: simulationPolicy("adaptive") };
    case "Horovod: coordinator": {
      // Each cycle all ranks tell the coordinator what is ready, and it tells them what is ready everywhere.
      const releases = lastReady.map((at) => Math.ceil(at / coordinatorCycleNs) * coordinatorCycleNs + 2 * messageNs);
      const cycles = Math.ceil(Math.max(...lastReady) / coordinatorCycleNs);
      return { hosts: released(releases, ranks), messages: 2 * cycles * (ranks - 1), policy: withoutPreemption };
    }
    case "BytePS: root of a node": {
      // The root of each node releases what all of its ranks have; nodes don't ask each other.
      const { ranksPerIsland } = workload;
      const hosts = ready.flatMap((_, rank) => {
        if (rank % ranksPerIsland !== 0) return [];
        const island = ready.slice(rank, rank + ranksPerIsland);
        const releases = lastReady.map((__, c) => Math.max(...island.map((times) => times[c] ?? 0)) + 2 * messageNs);
        return released(releases, island.length);
      });
      return { hosts, messages: 2 * count * (ranks - Math.ceil(ranks / ranksPerIsland)), policy: withoutPreemption };
    }
    case "KungFu: learned order": {
      // The order in which most ranks were ready in the first iteration; here, that of their mean times.
      const means = lastReady.map((_, c) => ready.reduce((sum, times) => sum + (times[c] ?? 0), 0) / ranks);
      return { hosts: inOrder(sorted(means), ready), messages: 2 * (ranks - 1), policy: withoutPreemption };
    }
    case "OneFlow: static order":
    case "Megatron: manual order":
      return {
        hosts: inOrder(
          lastReady.map((_, c) => c),
          ready,
        ),
        messages: 0,
        policy: withoutPreemption,
      };
    case "Pathways: central scheduler": {
      // One scheduler releases each collective as a gang, when its inputs are announced.
      return {
        hosts: released(
          lastReady.map((at) => at + 2 * messageNs),
          ranks,
        ),
        messages: 2 * count * ranks,
        policy: withoutPreemption,
      };
    }
  }
}

function readWorkload(given: OrderingWorkload): OrderingWorkload {
  checkObject("workload", given, "an object such as orderingWorkload");
  const workload = readPlain("workload", given);
  checkInteger("workload.ranks", workload.ranks, 1, 1024);
  checkInteger("workload.ranksPerIsland", workload.ranksPerIsland, 1);
  checkInteger("workload.collectives", workload.collectives, 1, 100_000);
  checkAbove0("workload.bytes", workload.bytes, 2 ** 40);
  checkTime("workload.readyEveryNs", workload.readyEveryNs, mostNs);
  checkTime("workload.jitterNs", workload.jitterNs, mostNs);
  checkProbability("workload.synchronizationProbability", workload.synchronizationProbability);
  return workload;
}

function readyTimes({ ranks, collectives, readyEveryNs, jitterNs }: OrderingWorkload, seed: number): readonly (readonly number[])[] {
  return Array.from({ length: ranks }, (_, rank) => {
    const random = new RandomStream().seed(seed, rank, 0);
    return Array.from({ length: collectives }, (__, c) => (c + 1) * readyEveryNs + random.uniform() * jitterNs);
  });
}

/** Collectives by time, the earliest first. */
function sorted(times: readonly number[]): readonly number[] {
  return times.map((_, c) => c).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b);
}

function released(releases: readonly number[], ranks: number): readonly (readonly HostAction[])[] {
  const actions = sorted(releases).map((collective) => ({ atNs: releases[collective] ?? 0, collective }));
  return Array.from({ length: ranks }, () => actions);
}

// What is ready waits for what comes before it in the order.
function inOrder(order: readonly number[], ready: readonly (readonly number[])[]): readonly (readonly HostAction[])[] {
  return ready.map((times) => {
    let atNs = 0;
    return order.map((collective) => {
      atNs = Math.max(atNs, times[collective] ?? 0);
      return { atNs, collective };
    });
  });
}

function withSynchronizations(hosts: Plan["hosts"], { synchronizationProbability }: OrderingWorkload, seed: number): Plan["hosts"] {
  return hosts.map((actions, rank) => {
    const random = new RandomStream().seed(seed, rank, 1);
    return actions.flatMap((action) => (random.uniform() <= synchronizationProbability ? [action, { atNs: action.atNs }] : [action]));
  });
}
