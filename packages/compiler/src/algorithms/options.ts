import { checkInteger, checkObject, checkOptions, type OptionNames, type Protocol } from "@dfccl/primitives";
import type { DirectForm } from "../language/define-program.js";

// As many as a signature may have.
const mostRanks = 4096;

export interface AlgorithmOptions {
  readonly ranks: number;
  /** Copies of the whole program that work side by side. Default 1. */
  readonly instances?: number | undefined;
  /** Default "simple". */
  readonly protocol?: Protocol | undefined;
  /** The ranks share memory, so messages become accesses to each other's buffers; see ProgramOptions. Default false. */
  readonly direct?: DirectForm | undefined;
}

/** Machines of `gpus` ranks each: rank = node × gpus + gpu. */
export interface TwoLevelOptions extends Omit<AlgorithmOptions, "ranks"> {
  readonly nodes: number;
  readonly gpus: number;
}

/** Of one level and of two: whoever takes an algorithm by its name gives the ranks in both ways. */
const sharedNames: OptionNames<AlgorithmOptions & TwoLevelOptions> = {
  ranks: true,
  nodes: true,
  gpus: true,
  instances: true,
  protocol: true,
  direct: true,
};

/**
 * Those of an algorithm's options that its program has too.
 * @param own - names of those that this algorithm has besides.
 * @throws {UnknownOptionError}
 */
export function programPart(options: Omit<AlgorithmOptions, "ranks">, own: Readonly<Record<string, true>> = {}) {
  checkOptions<Omit<AlgorithmOptions, "ranks">>("options", options, { ...sharedNames, ...own }, "an object such as { ranks: 4 }");
  const { instances, protocol, direct } = options;
  return { instances, protocol, direct };
}

/** 0 … count - 1. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Distances 1, 2, 4, … below a limit. */
export function powersOfTwoBelow(limit: number): number[] {
  return range(32)
    .map((exponent) => 2 ** exponent)
    .filter((power) => power < limit);
}

/** @throws {InvalidArgumentError} */
export function ranksOf(options: AlgorithmOptions): number {
  checkObject("options", options, "an object such as { ranks: 4 }");
  checkInteger("ranks", options.ranks, 1, mostRanks);
  return options.ranks;
}

/** @throws {InvalidArgumentError} */
export function checkTwoLevels(options: TwoLevelOptions): void {
  checkObject("options", options, "an object such as { nodes: 2, gpus: 4 }");
  for (const name of ["nodes", "gpus"] as const) checkInteger(name, options[name], 1, mostRanks);
}
