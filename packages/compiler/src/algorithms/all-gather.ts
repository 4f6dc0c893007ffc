import type { ChunkReference } from "../language/chunk-reference.js";
import { defineProgram, type ProgramDefinition } from "../language/define-program.js";
import { allGather } from "../language/signature.js";
import { type AlgorithmOptions, powersOfTwoBelow, programPart, range, ranksOf } from "./options.js";

/** Each rank's data goes round the ring. Every link carries every byte once: best for large data, slow for many ranks. */
export function ringAllGather(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const collective = allGather({ ranks, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "all-gather ring", collective }, ({ chunk }) => {
    for (const rank of range(ranks)) {
      let c: ChunkReference = chunk(rank, "input");
      c.copy(rank, "output", rank);
      for (const step of range(ranks - 1)) c = c.copy((rank + step + 1) % ranks, "output", rank);
    }
  });
}

/** Everybody sends to everybody at once: one round, for small data or where all are connected to all. */
export function allPairsAllGather(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const collective = allGather({ ranks, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "all-gather all-pairs", collective }, ({ chunk }) => {
    for (const rank of range(ranks))
      for (const distance of range(ranks)) chunk(rank, "input").copy((rank + distance) % ranks, "output", rank);
  });
}

/** What a rank has doubles in each round: log2(ranks) rounds, for small data on many ranks. Any number of ranks. */
export function recursiveDoublingAllGather(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const collective = allGather({ ranks, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "all-gather recursive doubling", collective }, ({ chunk }) => {
    for (const rank of range(ranks)) chunk(rank, "input").copy(rank, "output", rank);
    for (const distance of powersOfTwoBelow(ranks)) {
      const count = Math.min(distance, ranks - distance);
      for (const rank of range(ranks)) {
        // Rank holds `distance` segments from its own on, and passes them back; past the last rank they go on at 0.
        const to = (rank - distance + ranks) % ranks;
        const beforeEnd = Math.min(count, ranks - rank);
        chunk(rank, "output", rank, beforeEnd).copy(to);
        if (count > beforeEnd) chunk(rank, "output", 0, count - beforeEnd).copy(to);
      }
    }
  });
}
