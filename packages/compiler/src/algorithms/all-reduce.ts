import { InvalidArgumentError } from "@dfccl/primitives";
import { defineProgram, type ProgramDefinition } from "../language/define-program.js";
import { allReduce } from "../language/signature.js";
import { type AlgorithmOptions, powersOfTwoBelow, programPart, range, ranksOf } from "./options.js";
import { ringAllGather, ringReduceScatter } from "./ring-phases.js";

export interface RingOptions extends AlgorithmOptions {
  /** Connections between neighbours that the one ring is spread over. Default 1. */
  readonly channels?: number | undefined;
}

/**
 * Each chunk goes round twice: reduced, then copied. Best for large data. Over several channels, sends and receives of
 * different chunks overlap, which pays at medium sizes (GC3, section 7.1.1).
 */
export function ringAllReduce(options: RingOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const { channels = 1 } = options;
  if (!Number.isInteger(channels) || channels < 1) throw new InvalidArgumentError("channels", channels, "a whole number of at least 1");
  const collective = allReduce({ ranks, chunks: ranks, inPlace: "either" });
  const name = channels === 1 ? "all-reduce ring" : `all-reduce ring over ${channels} channels`;
  return defineProgram({ ...programPart(options, { channels: true }), name, collective }, (language) => {
    const directive = (position: number) => ({ channel: position % channels });
    ringReduceScatter(language, range(ranks), 0, 1, directive);
    ringAllGather(language, range(ranks), 0, 1, directive);
  });
}

/** Everybody sends everything to everybody and reduces for itself: one round, for the smallest data. */
export function allPairsOneShotAllReduce(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const collective = allReduce({ ranks, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "all-reduce all-pairs one-shot", collective }, ({ chunk }) => {
    for (const rank of range(ranks)) {
      for (const distance of range(ranks - 1)) chunk(rank, "input").copy((rank + distance + 1) % ranks, "scratch", rank);
    }
    for (const rank of range(ranks)) {
      // All in the order of ranks, so that all get the same bits.
      const from = (other: number) => chunk(rank, other === rank ? "input" : "scratch", other === rank ? 0 : other);
      const sum = range(ranks)
        .slice(1)
        .reduce((partial, other) => partial.reduce(from(other)), from(0));
      sum.copy(rank, "output", 0);
    }
  });
}

/** Rank r reduces shard r, then sends it to everybody: two rounds and no byte sent needlessly, for small data. */
export function allPairsTwoShotAllReduce(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const collective = allReduce({ ranks, chunks: ranks, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "all-reduce all-pairs two-shot", collective }, ({ chunk }) => {
    const others = (rank: number): number[] => range(ranks - 1).map((distance) => (rank + distance + 1) % ranks);
    for (const shard of range(ranks)) for (const rank of others(shard)) chunk(rank, "input", shard).copy(shard, "scratch", rank);
    for (const shard of range(ranks)) {
      for (const rank of others(shard)) chunk(shard, "input", shard).reduce(chunk(shard, "scratch", rank));
      for (const rank of others(shard)) chunk(shard, "output", shard).copy(rank);
    }
  });
}

/**
 * Partners at halving distance reduce half of what is left, then at doubling distance exchange results: few rounds and few
 * bytes, for medium sizes. Ranks beyond the last power of two send their data to a partner first and get the result last.
 */
export function recursiveHalvingDoublingAllReduce(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const distances = powersOfTwoBelow(ranks / 2 + 0.5);
  const core = 2 ** distances.length;
  const collective = allReduce({ ranks, chunks: core, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "all-reduce recursive halving-doubling", collective }, ({ chunk }) => {
    const shareOf = (rank: number, size: number): number => Math.floor(rank / size) * size;
    for (const rank of range(ranks - core)) chunk(rank, "input", 0, core).reduce(chunk(core + rank, "input", 0, core));
    for (const distance of distances.toReversed()) {
      for (const rank of range(core)) {
        const share = shareOf(rank, distance);
        chunk(rank, "input", share, distance).reduce(chunk(rank ^ distance, "input", share, distance));
      }
    }
    for (const distance of distances)
      for (const rank of range(core)) chunk(rank, "output", shareOf(rank, distance), distance).copy(rank ^ distance);
    for (const rank of range(ranks - core)) chunk(rank, "output", 0, core).copy(core + rank);
  });
}
