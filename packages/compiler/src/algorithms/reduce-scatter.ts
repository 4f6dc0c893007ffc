import type { ChunkReference } from "../language/chunk-reference.js";
import { defineProgram, type ProgramDefinition } from "../language/define-program.js";
import { reduceScatter } from "../language/signature.js";
import { type AlgorithmOptions, programPart, range, ranksOf } from "./options.js";

/** The share of rank r starts behind it, collects every rank's part, and ends at r. Best for large data. */
export function ringReduceScatter(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const collective = reduceScatter({ ranks, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "reduce-scatter ring", collective }, ({ chunk }) => {
    for (const share of range(ranks)) {
      let c: ChunkReference = chunk((share + 1) % ranks, "input", share);
      for (const step of range(ranks - 1).slice(1)) {
        const rank = (share + step + 1) % ranks;
        c = c.copy(rank, "scratch", share).reduce(chunk(rank, "input", share));
      }
      if (ranks > 1) chunk(share, "input", share).reduce(c);
    }
  });
}

/** Everybody sends everybody's share at once: one round, for small data. */
export function allPairsReduceScatter(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const collective = reduceScatter({ ranks, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "reduce-scatter all-pairs", collective }, ({ chunk }) => {
    const others = (rank: number): number[] => range(ranks - 1).map((distance) => (rank + distance + 1) % ranks);
    for (const share of range(ranks)) for (const rank of others(share)) chunk(rank, "input", share).copy(share, "scratch", rank);
    for (const share of range(ranks)) for (const rank of others(share)) chunk(share, "input", share).reduce(chunk(share, "scratch", rank));
  });
}
