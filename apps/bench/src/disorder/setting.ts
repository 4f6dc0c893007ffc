import { openWorld, type Rank, type RegisteredCollective, type World } from "@dfccl/core";
import { longestOf, type Workload } from "../workloads/workload.js";
import { ExactData } from "./exact-data.js";

/** One rank, everything registered, with a buffer for every result. Positions are the workload's tensors. */
export interface Member {
  readonly rank: Rank;
  readonly collectives: readonly RegisteredCollective[];
  readonly outputs: readonly Float32Array[];
}

export interface Setting {
  readonly data: ExactData;
  readonly members: readonly Member[];
}

/** Registers every tensor of the workload as an all-reduce over all ranks. */
export function prepare(world: World, { tensors }: Workload, data: ExactData): Setting {
  const members = world.ranks.map((rank) => ({
    rank,
    collectives: tensors.map(({ elements }, id) =>
      rank.register({ id, collective: "all-reduce", dataType: "float32", count: elements, op: "sum" }),
    ),
    outputs: tensors.map(({ elements }) => rank.allocate("float32", elements)),
  }));
  return { data, members };
}

/** Inputs for a workload and what they sum up to; any world of as many ranks can read them. */
export function makeData(workload: Workload, ranks: number, seed: number): ExactData {
  // Memory that a world allocated outlives it.
  using world = openWorld({ ranks: 1, workers: 0 });
  const [rank] = world.ranks;
  return new ExactData(ranks, longestOf(workload), seed, (elements) => rank?.allocate("float32", elements) ?? new Float32Array(elements));
}
