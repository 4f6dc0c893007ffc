import { checkProgram } from "../check-program.js";
import type { Program } from "../program.js";
import { buildGraph } from "./graph.js";
import { modesOf } from "./memory.js";
import { topologicalOrder } from "./order.js";
import { checkStructure } from "./structure.js";
import { SymbolicExecution } from "./symbolic.js";

/**
 * Marks `finish` on the steps whose result is the complete reduction, and only there: `avg` divides at these. With one
 * rank there is nothing to divide, so nothing is marked. Existing marks are replaced.
 * @returns a new program; the given one stays as it is.
 * @throws {ProgramError} if the program can't be followed: a step is malformed, steps wait in a circle, or one reads what
 * nobody wrote.
 */
export function annotateFinish(program: Program): Program {
  checkProgram(program);
  const unmarked = mapSteps(program, () => false);
  checkStructure(unmarked);
  const graph = buildGraph(unmarked);
  const order = topologicalOrder(graph, unmarked.slotCount);
  const complete = new Set<string>();
  const [mode] = modesOf(unmarked);
  if (mode !== undefined && program.ranks.length > 1) {
    new SymbolicExecution(unmarked, graph, mode, (index, isComplete) => {
      const node = graph.nodes[index];
      if (isComplete && node !== undefined) complete.add(`${node.rank} ${node.block} ${node.step}`);
      return isComplete;
    }).run(order);
  }
  return mapSteps(unmarked, (rank, block, step) => complete.has(`${rank} ${block} ${step}`));
}

function mapSteps(program: Program, isFinished: (rank: number, block: number, step: number) => boolean): Program {
  return {
    ...program,
    ranks: program.ranks.map((rankProgram, rank) => ({
      ...rankProgram,
      blocks: rankProgram.blocks.map(({ steps }, block) => ({
        steps: steps.map((step, index) => {
          const { finish: _, ...rest } = step;
          return isFinished(rank, block, index) ? { ...rest, finish: true } : rest;
        }),
      })),
    })),
  };
}
