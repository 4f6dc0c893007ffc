import { buildProgram } from "@dfccl/primitives";
import { testHostileValues } from "../../../scripts/lib/hostile-values.js";
import * as algorithms from "../src/algorithms/index.js";
import * as compiler from "../src/index.js";
import { allReduce, compile, writeXml } from "../src/index.js";

const sized = { ranks: 2, chunks: 1, inPlace: false } as const;
const definition = () => algorithms.ringAllReduce({ ranks: 2 });
const compiled = compile(definition());
const program = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 2 });
const [instruction] = compiled.stages.fused.instructions;
const xml = writeXml(compiled.program, { name: "ring" });
const oneLevel = () => [{ ranks: 4, instances: 1, protocol: "ll", direct: false }];
const twoLevels = () => [{ nodes: 2, gpus: 2, instances: 1, protocol: "ll", direct: false }];

testHostileValues(compiler, {
  compile: () => [definition(), { channelLimit: 4 }],
  chunkDagOf: () => [compiled],
  describeInstruction: () => [instruction, compiled.stages.fused],
  formatStages: () => [compiled],
  programLines: () => [program],
  defineProgram: () => [
    {
      name: "own",
      collective: allReduce({ ranks: 2 }),
      protocol: "ll",
      instances: 2,
      replication: "interleaved",
      direct: false,
      slotCount: 4,
    },
    () => undefined,
  ],
  isProgramDefinition: () => [definition()],
  allGather: () => [sized],
  allReduce: () => [sized],
  allToAll: () => [sized],
  broadcast: () => [{ ...sized, root: 0 }],
  custom: () => [{ name: "own", ranks: 2, inputChunks: 1, outputChunks: 1, postcondition: () => undefined }],
  gather: () => [{ ...sized, root: 0 }],
  reduce: () => [{ ...sized, root: 0 }],
  reduceScatter: () => [sized],
  scatter: () => [{ ...sized, root: 0 }],
  sendRecv: () => [{ chunks: 1, root: 0 }],
  formatSpan: () => [{ rank: 0, buffer: "input", index: 0, count: 1 }],
  readXml: () => [xml, { file: "ring.xml" }],
  writeXml: () => [compiled.program, { name: "ring", minBytes: 0, maxBytes: 0, ignoreLimits: false }],
});

testHostileValues(algorithms, {
  allPairsAllGather: oneLevel,
  recursiveDoublingAllGather: oneLevel,
  ringAllGather: oneLevel,
  allPairsOneShotAllReduce: oneLevel,
  allPairsTwoShotAllReduce: oneLevel,
  recursiveHalvingDoublingAllReduce: oneLevel,
  ringAllReduce: () => [{ ranks: 4, channels: 2, instances: 1, protocol: "ll", direct: false }],
  allPairsAllToAll: oneLevel,
  allToNext: twoLevels,
  threeStepAllToAll: twoLevels,
  twoStepAllToAll: twoLevels,
  hierarchicalAllReduce: twoLevels,
  allPairsReduceScatter: oneLevel,
  ringReduceScatter: oneLevel,
  binomialTreeAllReduce: oneLevel,
  doubleBinaryTreeAllReduce: oneLevel,
});
