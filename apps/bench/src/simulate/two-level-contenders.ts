import { allReduce, compile, custom, defineProgram, type ProgramDefinition } from "@dfccl/compiler";
import {
  allPairsAllToAll,
  allToNext,
  hierarchicalAllReduce,
  ringAllGather,
  ringAllReduce,
  ringReduceScatter,
  twoStepAllToAll,
} from "@dfccl/compiler/algorithms";
import type { Program } from "@dfccl/primitives";
import { type BlockCosts, type Cluster, h200BlockCosts, simulatePrograms } from "@dfccl/simulator";

/** How large machines of equal GPUs are. */
export interface TwoLevels {
  readonly nodes: number;
  readonly cluster: Cluster;
}

/** One way to carry out a collective: programs side by side, in one kernel or in several one after the other. */
export interface Contender {
  readonly name: string;
  /** @param instances - copies of each program. @returns the kernels, in order. */
  readonly kernels: (levels: TwoLevels, instances: number) => readonly Kernel[];
}

interface Kernel {
  readonly program: Program;
  /** On which ranks of the cluster it runs at once. */
  readonly groups: readonly (readonly number[])[];
  /** Of the bytes that a rank has: how many its segment has. */
  readonly segmentShare: number;
}

/** Ways to do the same, the first of which is to win. */
export interface Contest {
  readonly name: string;
  readonly contenders: readonly [Contender, ...Contender[]];
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const ranksOf = ({ nodes, cluster }: TwoLevels): number[] => range(nodes * cluster.gpusPerNode);
const nodesOf = ({ nodes, cluster: { gpusPerNode } }: TwoLevels): number[][] =>
  range(nodes).map((node) => range(gpusPerNode).map((gpu) => node * gpusPerNode + gpu));
const across = ({ nodes, cluster: { gpusPerNode } }: TwoLevels): number[][] =>
  range(gpusPerNode).map((gpu) => range(nodes).map((node) => node * gpusPerNode + gpu));

/** One kernel on all ranks. */
function one(name: string, define: (levels: TwoLevels) => ProgramDefinition, segments: (levels: TwoLevels) => number = () => 1): Contender {
  return {
    name,
    kernels: (levels, instances) => [
      { program: compile({ ...define(levels), instances }).program, groups: [ranksOf(levels)], segmentShare: 1 / segments(levels) },
    ],
  };
}

const sizesOf = ({ nodes, cluster }: TwoLevels): { nodes: number; gpus: number } => ({ nodes, gpus: cluster.gpusPerNode });
const countOf = (levels: TwoLevels): number => ranksOf(levels).length;

export const contests: readonly Contest[] = [
  {
    name: "all-reduce",
    contenders: [
      one("hierarchical", (levels) => hierarchicalAllReduce(sizesOf(levels))),
      one("rings over all cards", ringsOverAllCards),
      one("one ring", (levels) => ringAllReduce({ ranks: countOf(levels) })),
      { name: "three collectives", kernels: threeCollectives },
    ],
  },
  {
    name: "all-to-all",
    contenders: [
      one("two-step", (levels) => twoStepAllToAll(sizesOf(levels)), countOf),
      one("all-pairs", (levels) => allPairsAllToAll({ ranks: countOf(levels) }), countOf),
    ],
  },
  {
    name: "all-to-next",
    contenders: [
      one(
        "over all cards",
        (levels) => allToNext(sizesOf(levels)),
        ({ cluster }) => cluster.gpusPerNode,
      ),
      one("straight", straightToNext),
    ],
  },
];

/** A ring for each GPU of a node, which comes into every node at another GPU: as NCCL lays them, so that no card is idle. */
function ringsOverAllCards({ nodes, cluster: { gpusPerNode: gpus } }: TwoLevels): ProgramDefinition {
  const ranks = nodes * gpus;
  const collective = allReduce({ ranks, chunks: ranks * gpus, inPlace: "either" });
  return defineProgram({ name: "rings over all cards", collective }, ({ chunk }) => {
    for (const entry of range(gpus)) {
      const order = range(ranks).map((place) => place - (place % gpus) + ((place + entry) % gpus));
      const at = (place: number): number => order[place % ranks] ?? 0;
      for (const place of range(ranks)) {
        const index = entry * ranks + place;
        let c = chunk(at(place + 1), "input", index);
        for (const hop of range(ranks - 1)) c = chunk(at(place + hop + 2), "input", index).reduce(c, { channel: entry });
        for (const hop of range(ranks - 1)) c = c.copy(at(place + hop + 1), "output", index, { channel: entry });
      }
    }
  });
}

/** What the hierarchical all-reduce does, as users of a library of collectives have to write it. */
function threeCollectives(levels: TwoLevels, instances: number): readonly Kernel[] {
  const { nodes, gpus } = sizesOf(levels);
  const kernel = (definition: ProgramDefinition, groups: readonly (readonly number[])[]): Kernel => ({
    program: compile({ ...definition, instances }).program,
    groups,
    segmentShare: 1 / gpus,
  });
  return [
    kernel(ringReduceScatter({ ranks: gpus }), nodesOf(levels)),
    kernel(ringAllReduce({ ranks: nodes }), across(levels)),
    kernel(ringAllGather({ ranks: gpus }), nodesOf(levels)),
  ];
}

/** Every rank sends its whole buffer to the next one itself. */
function straightToNext(levels: TwoLevels): ProgramDefinition {
  const ranks = countOf(levels);
  const postcondition = (rank: number, chunk: number) => (rank === 0 ? undefined : [{ rank: rank - 1, chunk }]);
  const collective = custom({ name: "to-next", ranks, inputChunks: 1, outputChunks: 1, postcondition });
  return defineProgram({ collective }, ({ chunk }) => {
    for (const rank of range(ranks - 1)) chunk(rank, "input", 0).copy(rank + 1, "output");
  });
}

export interface SimulatedTime {
  readonly ns: number;
  readonly instances: number;
  readonly tileBytes: number;
}

/** A contender in its best setting for a size: how long it takes, launches between kernels included. */
export function bestTime(
  kernelsOf: (instances: number) => readonly Kernel[],
  { cluster }: TwoLevels,
  bytes: number,
  settings: { readonly instances: readonly number[]; readonly tileBytes: readonly number[] },
  costs: BlockCosts = h200BlockCosts,
): SimulatedTime {
  const times = settings.instances.flatMap((instances) =>
    settings.tileBytes.map((tileBytes): SimulatedTime => {
      const kernels = kernelsOf(instances);
      const ns = kernels.map(({ program, groups, segmentShare }) => {
        const segmentBytes = Math.ceil(bytes * segmentShare);
        return simulatePrograms(
          groups.map((ranks) => ({ program, ranks, segmentBytes })),
          { cluster, costs, tileBytes },
        ).endNs;
      });
      return { ns: ns.reduce((sum, each) => sum + each, (kernels.length - 1) * costs.launchNs), instances, tileBytes };
    }),
  );
  return times.reduce((best, time) => (time.ns < best.ns ? time : best));
}
