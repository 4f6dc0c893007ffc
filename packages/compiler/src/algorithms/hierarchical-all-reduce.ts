import { defineProgram, type ProgramDefinition } from "../language/define-program.js";
import { allReduce } from "../language/signature.js";
import { checkTwoLevels, programPart, range, type TwoLevelOptions } from "./options.js";
import { ringAllGather, ringReduceScatter } from "./ring-phases.js";

export interface HierarchicalOptions extends TwoLevelOptions {
  /** How many shares of each chunk go round within a node side by side. Default 1. */
  readonly parallel?: number | undefined;
}

/**
 * Reduces within nodes, then between them, and brings the results back the same way. Links between nodes carry 1/gpus of
 * the data: for machines whose network is slower than what connects the GPUs of a node.
 * @see GC3, Figures 1 and 3
 */
export function hierarchicalAllReduce(options: HierarchicalOptions): ProgramDefinition {
  checkTwoLevels(options);
  const { nodes, gpus, parallel = 1 } = options;
  const collective = allReduce({ ranks: nodes * gpus, chunks: nodes * gpus, inPlace: "either" });
  return defineProgram(
    { ...programPart(options, { parallel: true }), name: `all-reduce hierarchical ${nodes} × ${gpus}`, collective },
    (language) => {
      const node = (n: number): number[] => range(gpus).map((g) => n * gpus + g);
      const across = (g: number): number[] => range(nodes).map((n) => n * gpus + g);
      const channel = (number: number) => () => ({ channel: number });
      language.parallelize(parallel, () => {
        for (const n of range(nodes)) ringReduceScatter(language, node(n), 0, nodes, channel(0));
      });
      for (const g of range(gpus)) ringReduceScatter(language, across(g), g * nodes, 1, channel(1));
      for (const g of range(gpus)) ringAllGather(language, across(g), g * nodes, 1, channel(1));
      language.parallelize(parallel, () => {
        for (const n of range(nodes)) ringAllGather(language, node(n), 0, nodes, channel(2));
      });
    },
  );
}
