import { maxSlotChunks, type Program, type RankProgram } from "../program.js";

/**
 * One rank's share of a program together with the facts of the whole: exactly what a binary program says, and all that
 * a daemon needs to execute it.
 */
export interface RankImage extends Omit<Program, "ranks"> {
  readonly rankCount: number;
  readonly rank: number;
  /** Digest of the whole program: equal on every rank. */
  readonly digest: bigint;
  /** Most chunks that any rank puts into a slot at once: all ranks cut their chunks into the same tiles by it. */
  readonly maxStepCount: number;
  readonly program: RankProgram;
}

export function rankImageOf(program: Program, rank: number, digest: bigint): RankImage {
  const { ranks, ...facts } = program;
  const maxStepCount = Math.max(0, ...ranks.map(maxSlotChunks));
  return { ...facts, rankCount: ranks.length, rank, digest, maxStepCount, program: ranks[rank] ?? { blocks: [], scratchChunks: 0 } };
}
