import { checkFunction } from "../check-kind.js";
import { checkOptions, type OptionNames } from "../check-options.js";
import type { Program } from "../program.js";
import { checkBarrier } from "./barrier.js";
import { buildGraph } from "./graph.js";
import { modesOf } from "./memory.js";
import { topologicalOrder } from "./order.js";
import { checkPostcondition, type Postcondition } from "./postcondition.js";
import { checkRaces } from "./races.js";
import { checkStructure } from "./structure.js";
import { finishAsMarked, SymbolicExecution } from "./symbolic.js";

export interface VerifyOptions {
  /** Replaces what the collective promises; the only way to state one for a custom collective. */
  readonly postcondition?: Postcondition;
}

const optionNames: OptionNames<VerifyOptions> = { postcondition: true };

/** What the proof found on its way. */
export interface VerificationReport {
  readonly steps: number;
  readonly connections: number;
  /**
   * Ranks that end up with the same reduction compute it by the same expression, so their bits are equal for any data,
   * not only for data where the order of reduction doesn't matter.
   */
  readonly sameBitsOnEveryRank: boolean;
}

/**
 * Proves a program right before it may run, in every mode that it claims:
 *
 * - each step has its operands, within the bounds of its buffers;
 * - each end of a connection belongs to one block, and the n-th send meets an n-th receive of the same size;
 * - no steps wait for each other in a circle, whatever the timing, with `slotCount` slots or more on each connection;
 * - no two steps race on a chunk of memory, and nobody reads what nobody wrote;
 * - every output chunk ends up with exactly the input chunks that the collective promises, each counted once and, where
 *   it reduces, finished once.
 *
 * @throws {ProgramError} naming rank, block and step, and the shortest counterexample: the cycle, or the output chunk
 * with what it holds and what it should hold.
 * @throws {UnknownOptionError}, {InvalidArgumentError} for options that there aren't.
 * @see GC3, section 4 (the checks); correctness of preemption asks for the rest.
 */
export function verifyProgram(program: Program, options: VerifyOptions = {}): VerificationReport {
  checkOptions("options", options, optionNames, "an object such as { postcondition }");
  if (options.postcondition !== undefined) checkFunction("postcondition", options.postcondition, "a function of rank and chunk");
  checkStructure(program);
  const graph = buildGraph(program);
  const order = topologicalOrder(graph, program.slotCount);
  let sameBitsOnEveryRank = true;
  for (const mode of modesOf(program)) {
    checkRaces(program, graph, order, mode);
    const execution = new SymbolicExecution(program, graph, mode, finishAsMarked(graph)).run(order);
    sameBitsOnEveryRank = checkPostcondition(program, graph, execution, mode, options.postcondition) && sameBitsOnEveryRank;
  }
  if (program.collective === "barrier") checkBarrier(program, graph, order);
  return { steps: graph.nodes.length, connections: graph.connectionCount, sameBitsOnEveryRank };
}
