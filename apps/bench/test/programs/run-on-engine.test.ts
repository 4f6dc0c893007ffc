import { compile, type ProgramDefinition } from "@dfccl/compiler";
import * as algorithms from "@dfccl/compiler/algorithms";
import { protocols } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { runOnEngine } from "../../src/programs/run-on-engine.js";

const isLong = process.env.DFCCL_TEST_TIER === "long";
const rankCounts = isLong ? [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] : [2, 3, 4, 6, 8, 16];

function everyAlgorithm(ranks: number, variant: { instances: number; protocol: (typeof protocols)[number] }): ProgramDefinition[] {
  const flat = { ranks, ...variant };
  const nodes = ranks % 2 === 0 ? 2 : 1;
  const shape = { nodes, gpus: ranks / nodes, ...variant };
  return [
    algorithms.ringAllGather(flat),
    algorithms.allPairsAllGather(flat),
    algorithms.recursiveDoublingAllGather(flat),
    algorithms.ringAllReduce(flat),
    algorithms.ringAllReduce({ ...flat, channels: 2 }),
    algorithms.allPairsOneShotAllReduce(flat),
    algorithms.allPairsTwoShotAllReduce(flat),
    algorithms.recursiveHalvingDoublingAllReduce(flat),
    algorithms.binomialTreeAllReduce(flat),
    algorithms.doubleBinaryTreeAllReduce(flat),
    algorithms.hierarchicalAllReduce({ ...shape, parallel: 2 }),
    algorithms.ringReduceScatter(flat),
    algorithms.allPairsReduceScatter(flat),
    algorithms.allPairsAllToAll({ ...flat, inPlace: true }),
    algorithms.allPairsAllToAll(flat),
    algorithms.twoStepAllToAll(shape),
    algorithms.threeStepAllToAll(shape),
    algorithms.allToNext(shape),
  ];
}

describe.each(rankCounts)("on %i ranks", (ranks) => {
  it("every algorithm's program gives the right bits, all submitted in random orders with synchronizations between", async () => {
    for (const instances of ranks <= 8 || isLong ? [1, 2, 4] : [1]) {
      for (const protocol of ranks <= 8 || isLong ? protocols : protocols.slice(0, 1)) {
        const programs = everyAlgorithm(ranks, { instances, protocol }).map((definition) => compile(definition));
        for (const inPlace of [false, true]) {
          const able = programs.filter(({ program }) => (inPlace ? program.inPlace : program.outOfPlace));
          // A multiple of every program's chunks, for the custom one, and 16 bytes more than a slot holds of each.
          const count = 16 * ranks * instances;
          const options = { count, inPlace, iterations: 2, synchronize: true, seed: ranks + instances };
          expect(await runOnEngine(able, options), `${protocol}, ${instances} instances, in place ${inPlace}`).toEqual([]);
        }
      }
    }
  });
});

it.each([2, 3, 4, 5, 6, 7, 8])("on %i ranks, a direct program in phases gives the right bits over many tiles", async (ranks) => {
  const programs = [1, 4].map((instances) => compile(algorithms.allPairsTwoShotAllReduce({ ranks, instances, direct: "in phases" })));
  for (const inPlace of [false, true]) {
    for (const count of [7, 200_003]) {
      expect(await runOnEngine(programs, { count, inPlace, iterations: 2, synchronize: true, seed: ranks })).toEqual([]);
    }
  }
});

it("runs sizes that aren't a multiple of the chunks, over many tiles", async () => {
  const programs = everyAlgorithm(4, { instances: 2, protocol: "ll" })
    .map((definition) => compile(definition))
    .filter(({ program }) => program.outOfPlace && program.collective !== "custom");
  for (const count of [1, 7, 100_003]) {
    expect(await runOnEngine(programs, { count, inPlace: false, iterations: 1, synchronize: false, seed: count })).toEqual([]);
  }
});

it("finds what is wrong: a program that was told another promise", async () => {
  const compiled = compile(algorithms.allToNext({ nodes: 1, gpus: 2 }));
  const other = { ...compiled, postcondition: (rank: number, chunk: number) => [{ rank, chunk }] };
  const [difference] = await runOnEngine([other], { count: 8, inPlace: false, iterations: 1, synchronize: false, seed: 1 });
  expect(difference).toMatchObject({ program: "all-to-next 1 × 2", element: 0 });
});
