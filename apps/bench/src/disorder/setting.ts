import { type Backend, type JoinedRank, openWorld, type Rank, type RegisteredCollective, type World } from "@dfccl/core";
import { longestOf, type Workload } from "../workloads/workload.js";
import type { Buffers, Operands } from "./buffers.js";
import { ExactData } from "./exact-data.js";
import { placeOnDevices } from "./on-devices.js";

/** One rank, everything registered, with a buffer for every result. Positions are the workload's tensors. */
export interface Member {
  readonly rank: Rank<Backend>;
  readonly collectives: readonly RegisteredCollective[];
  readonly outputs: readonly Float32Array[];
}

export interface Setting {
  readonly data: ExactData;
  readonly operands: Operands;
  /** Brings results to where they are compared; missing where they lie there already. */
  readonly fetch?: () => Promise<void>;
  readonly members: readonly Member[];
}

// Elements that fill a cache line: no two tensors share one.
const lineElements = 16;

/** Buffers that one world after the other may use, as long as no two do at a time. */
export function makeBuffers(workload: Workload, ranks: number, seed: number): Buffers {
  // Memory that a world allocated outlives it.
  using world = openWorld({ ranks: 1, workers: 0 });
  const [rank] = world.ranks;
  const allocate = (elements: number): Float32Array => rank?.allocate("float32", elements) ?? new Float32Array(elements);
  const data = new ExactData(ranks, longestOf(workload), seed, allocate);
  const outputs = Array.from({ length: ranks }, () => carve(workload, allocate));
  clear(outputs);
  return { data, outputs };
}

/** The same for one rank of many processes: its own buffers, where the others can reach them; on GPUs, the host's copies. */
export function makeOwnBuffers(rank: JoinedRank<Backend>, workload: Workload, seed: number): Buffers {
  const allocate = (elements: number): Float32Array => {
    const memory = rank.world.backend === "cpu" ? rank.allocate("float32", elements) : undefined;
    return memory instanceof Float32Array ? memory : new Float32Array(elements);
  };
  const data = new ExactData(rank.size, longestOf(workload), seed, allocate, rank.number);
  return { data, outputs: Array.from({ length: rank.size }, (_, r) => (r === rank.number ? carve(workload, allocate) : [])) };
}

/** Touches every page too, which costs time that nobody should measure. */
function clear(outputs: Buffers["outputs"]): void {
  for (const output of outputs.flat()) output.fill(0);
}

/**
 * A rank's tensors in one piece of memory, as frameworks flatten gradients: the system can map it in huge pages, which
 * spares the first iteration 25,000 page faults a rank of ResNet-50's 100 MB.
 */
function carve({ tensors }: Workload, allocate: (elements: number) => Float32Array): Float32Array[] {
  const offsets: number[] = [];
  let end = 0;
  for (const { elements } of tensors) {
    offsets.push(end);
    end += Math.ceil(elements / lineElements) * lineElements;
  }
  const memory = allocate(end);
  return tensors.map(({ elements }, i) => memory.subarray(offsets[i], (offsets[i] ?? 0) + elements));
}

/**
 * Registers every tensor of the workload as an all-reduce over all ranks, and clears the outputs: what an earlier world
 * left there must not pass for a result.
 */
export async function prepare(world: World<Backend>, { tensors }: Workload, buffers: Buffers): Promise<Setting> {
  const { data, outputs } = buffers;
  clear(outputs);
  const members = world.ranks.map((rank) => ({
    rank,
    collectives: tensors.map(({ elements }, id) =>
      rank.register({ id, collective: "all-reduce", dataType: "float32", count: elements, op: "sum" }),
    ),
    outputs: outputs[rank.number] ?? [],
  }));
  if (isOnGpus(world)) return { data, members, ...(await placeOnDevices(world.ranks, buffers)) };
  const operands: Operands = (rank, tensor, iteration) => {
    const output = outputs[rank]?.[tensor];
    return [data.input(rank, tensor, iteration, output?.length ?? 0), output];
  };
  return { data, members, operands };
}

function isOnGpus(world: World<Backend>): world is World<"cuda"> {
  return world.backend === "cuda";
}
