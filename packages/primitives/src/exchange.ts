import { checkProgram } from "./check-program.js";
import type { Program, Step } from "./program.js";

/**
 * Whether a program is an exchange: of protocol LL and without connections, every step reduces one chunk of every rank's
 * input, in the order of the ranks, into the same chunk of its own rank's output alone. The engine then lets nobody read
 * another's buffers: each rank sends its chunk to all others before it writes its own result, and reduces what it was sent.
 * So an exchange may run in place. native/src/base/program.hpp says the same.
 */
export function isExchange(program: Program): boolean {
  checkProgram(program);
  const { protocol, inputSegments, outputSegments, ranks } = program;
  if (protocol !== "ll" || inputSegments !== 1 || outputSegments !== 1) return false;
  const steps = ranks.flatMap(({ blocks }, rank) => blocks.flatMap((block) => block.steps.map((step) => ({ rank, step }))));
  return steps.length > 0 && steps.every(({ rank, step }) => isExchangeStep(step, rank, ranks.length));
}

function isExchangeStep({ op, count, sources, destinations }: Step, rank: number, ranks: number): boolean {
  const [result, ...others] = destinations ?? [];
  if (op !== "multiReduceCopy" || count !== 1) return false;
  if (result?.rank !== rank || result.buffer !== "output" || others.length > 0 || sources?.length !== ranks) return false;
  return sources.every((source, index) => source.rank === index && source.buffer === "input" && source.chunk === result.chunk);
}
