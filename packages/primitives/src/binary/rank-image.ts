import type { Program, RankProgram } from "../program.js";

/**
 * One rank's share of a program together with the facts of the whole: exactly what a binary program says, and all that
 * a daemon needs to execute it.
 */
export interface RankImage extends Omit<Program, "ranks"> {
  readonly rankCount: number;
  readonly rank: number;
  /** Digest of the whole program: equal on every rank. */
  readonly digest: bigint;
  readonly program: RankProgram;
}

export function rankImageOf(program: Program, rank: number, digest: bigint): RankImage {
  const { ranks, ...facts } = program;
  return { ...facts, rankCount: ranks.length, rank, digest, program: ranks[rank] ?? { blocks: [], scratchChunks: 0 } };
}
