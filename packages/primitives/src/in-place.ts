import { checkInteger } from "./check-number.js";
import { checkProgramFacts } from "./check-program.js";
import type { Program } from "./program.js";

/**
 * In place, input and output share memory as NCCL defines it:
 *
 * - all-reduce, reduce (on the root), broadcast (on the root), all-to-all: output = input.
 * - all-gather, gather (on the root): a rank's input is its own segment of its output.
 * - reduce-scatter, scatter (on the root): a rank's output is its own segment of its input.
 * - send-recv: no rank has both, so nothing is shared. custom: not defined.
 *
 * @returns by how much the number of an output chunk is above that of the input chunk in the same memory (where both
 * exist), or undefined if this rank's buffers share nothing.
 */
export function inPlaceShift(program: Program, rank: number): number | undefined {
  checkProgramFacts(program);
  checkInteger("rank", rank, 0);
  const ownSegment = rank * program.chunksPerSegment;
  switch (program.collective) {
    case "all-reduce":
    case "all-to-all":
      return 0;
    case "all-gather":
      return ownSegment;
    case "reduce-scatter":
      return -ownSegment;
    case "reduce":
    case "broadcast":
      return rank === program.root ? 0 : undefined;
    case "gather":
      return rank === program.root ? ownSegment : undefined;
    case "scatter":
      return rank === program.root ? -ownSegment : undefined;
    case "send-recv":
    case "barrier":
    case "custom":
      return undefined;
  }
}
