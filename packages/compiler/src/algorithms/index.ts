export { allPairsAllGather, recursiveDoublingAllGather, ringAllGather } from "./all-gather.js";
export {
  allPairsOneShotAllReduce,
  allPairsTwoShotAllReduce,
  type RingOptions,
  recursiveHalvingDoublingAllReduce,
  ringAllReduce,
} from "./all-reduce.js";
export { allPairsAllToAll, allToNext, threeStepAllToAll, twoStepAllToAll } from "./all-to-all.js";
export { type HierarchicalOptions, hierarchicalAllReduce } from "./hierarchical-all-reduce.js";
export type { AlgorithmOptions, TwoLevelOptions } from "./options.js";
export { allPairsReduceScatter, ringReduceScatter } from "./reduce-scatter.js";
export { binomialTreeAllReduce, doubleBinaryTreeAllReduce } from "./tree-all-reduce.js";
