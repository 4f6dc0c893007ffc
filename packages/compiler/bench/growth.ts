// How long compiling takes as ranks grow, tracing and proof included: `pnpm --filter @dfccl/compiler bench`. Median of five.
import os from "node:os";
import { compile, type ProgramDefinition } from "@dfccl/compiler";
import * as algorithms from "@dfccl/compiler/algorithms";

const shapes = [2, 4, 8, 16].flatMap((nodes) => [
  { nodes, gpus: nodes },
  { nodes: 2 * nodes, gpus: nodes },
]);

const cases: readonly (readonly [string, (shape: { nodes: number; gpus: number }) => ProgramDefinition, number])[] = [
  ["all-reduce hierarchical", algorithms.hierarchicalAllReduce, 256],
  ["all-reduce ring", ({ nodes, gpus }) => algorithms.ringAllReduce({ ranks: nodes * gpus }), 64],
  ["all-reduce double binary tree", ({ nodes, gpus }) => algorithms.doubleBinaryTreeAllReduce({ ranks: nodes * gpus }), 256],
  [
    "all-reduce recursive halving-doubling",
    ({ nodes, gpus }) => algorithms.recursiveHalvingDoublingAllReduce({ ranks: nodes * gpus }),
    128,
  ],
  ["all-gather ring", ({ nodes, gpus }) => algorithms.ringAllGather({ ranks: nodes * gpus }), 128],
  ["all-to-all two-step", algorithms.twoStepAllToAll, 64],
];

function secondsToCompile(definition: ProgramDefinition): { seconds: number; steps: number } {
  let steps = 0;
  const samples = Array.from({ length: 5 }, () => {
    const began = performance.now();
    steps = compile(definition).report.steps;
    return (performance.now() - began) / 1000;
  });
  return { seconds: samples.sort((a, b) => a - b)[2] ?? Number.NaN, steps };
}

const ranks = shapes.filter(({ nodes, gpus }) => nodes * gpus <= 256).map(({ nodes, gpus }) => nodes * gpus);
console.log(
  `${os.cpus()[0]?.model.trim()}, ${os.availableParallelism()} cores, Node ${process.versions.node}, load before ${os.loadavg()[0]?.toFixed(1)}\n`,
);
console.log(`| seconds (steps) | ${ranks.map((count) => `${count} ranks`).join(" | ")} |`);
console.log(`| :-- | ${ranks.map(() => "--:").join(" | ")} |`);
for (const [name, define, most] of cases) {
  const cells = shapes.slice(0, ranks.length).map((shape) => {
    if (shape.nodes * shape.gpus > most) return "";
    const { seconds, steps } = secondsToCompile(define(shape));
    return `${seconds.toFixed(3)} (${steps.toLocaleString("en-US")})`;
  });
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}
