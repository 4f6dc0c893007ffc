import type { Program } from "../program.js";
import type { StepPosition } from "../program-errors.js";
import { buildGraph } from "./graph.js";
import { positionOf } from "./messages.js";
import { topologicalOrder } from "./order.js";
import { checkStructure } from "./structure.js";

/**
 * All steps of all ranks, each after everything that it waits for: one of the orders in which a run may execute them.
 * @throws {ProgramError} if there is none, or a step is malformed.
 */
export function stepOrder(program: Program): StepPosition[] {
  checkStructure(program);
  const graph = buildGraph(program);
  return Array.from(topologicalOrder(graph, program.slotCount), (node) => graph.nodes[node]).flatMap((node) =>
    node ? [positionOf(node)] : [],
  );
}
