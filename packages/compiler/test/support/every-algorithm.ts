import type { Protocol } from "@dfccl/primitives";
import * as algorithms from "../../src/algorithms/index.js";
import type { ProgramDefinition } from "../../src/index.js";

interface Variant {
  readonly instances?: number;
  readonly protocol?: Protocol;
}

/** Every algorithm on this many ranks; those of two levels in every shape. */
export function everyAlgorithm(ranks: number, variant: Variant = {}): ProgramDefinition[] {
  const flat = { ranks, ...variant };
  const definitions = [
    algorithms.ringAllGather(flat),
    algorithms.allPairsAllGather(flat),
    algorithms.recursiveDoublingAllGather(flat),
    algorithms.ringAllReduce(flat),
    algorithms.ringAllReduce({ ...flat, channels: 3 }),
    algorithms.allPairsOneShotAllReduce(flat),
    algorithms.allPairsTwoShotAllReduce(flat),
    algorithms.recursiveHalvingDoublingAllReduce(flat),
    algorithms.binomialTreeAllReduce(flat),
    algorithms.doubleBinaryTreeAllReduce(flat),
    algorithms.ringReduceScatter(flat),
    algorithms.allPairsReduceScatter(flat),
    algorithms.allPairsAllToAll(flat),
    algorithms.allPairsAllToAll({ ...flat, inPlace: true }),
  ];
  for (let nodes = 1; nodes <= ranks; nodes += 1) {
    const gpus = ranks / nodes;
    if (!Number.isInteger(gpus)) continue;
    const shape = { nodes, gpus, ...variant };
    definitions.push(
      algorithms.hierarchicalAllReduce(shape),
      algorithms.hierarchicalAllReduce({ ...shape, parallel: 2 }),
      algorithms.twoStepAllToAll(shape),
      algorithms.threeStepAllToAll(shape),
      algorithms.allToNext(shape),
    );
  }
  return definitions;
}
