import { PlanError } from "../errors.js";

/** How many ways the work is split: by data, by the insides of layers, by layers. Their product is the number of ranks. */
export interface Parallel {
  readonly dp: number;
  readonly tp: number;
  readonly pp: number;
}

/** Where a rank stands, and whom it works with. */
export interface Position {
  /** Its part of the data, from 0. */
  readonly data: number;
  /** Its part of each layer. */
  readonly tensor: number;
  /** Its stage of the pipeline. */
  readonly stage: number;
  /** Ranks with the same parameters and other data. */
  readonly dataGroup: readonly number[];
  /** Ranks with the other parts of the same layers. */
  readonly tensorGroup: readonly number[];
  /** Ranks of the stages of the same pipeline, in order. */
  readonly pipeline: readonly number[];
}

/**
 * Reads "dp=2,tp=2,pp=1"; what isn't named is 1, but without `dp` that takes up the ranks that are left.
 * @throws {PlanError} for anything else, or where the ranks don't come out even.
 */
export function parseParallel(text: string, ranks: number): Parallel {
  const given: { dp?: number; tp?: number; pp?: number } = {};
  for (const part of text === "" ? [] : text.split(",")) {
    const [, name, digits] = /^(dp|tp|pp)=([1-9]\d{0,2})$/.exec(part.trim()) ?? [];
    if (name === undefined || Object.hasOwn(given, name)) {
      throw new PlanError(`"${text}" doesn't say how to split the work`, "Write it like dp=2,tp=2,pp=1.", { parallel: text });
    }
    given[name as keyof Parallel] = Number(digits);
  }
  const { tp = 1, pp = 1 } = given;
  const parallel = { dp: given.dp ?? Math.max(1, Math.floor(ranks / (tp * pp))), tp, pp };
  const product = parallel.dp * tp * pp;
  if (product !== ranks) {
    throw new PlanError(
      `dp=${parallel.dp} × tp=${tp} × pp=${pp} makes ${product} ranks, not ${ranks}`,
      `Give --ranks ${product}, or other factors.`,
      {
        parallel,
        ranks,
      },
    );
  }
  return parallel;
}

/** Neighbours in a layer have neighbouring numbers: they talk most. */
export function positionOf(rank: number, { dp, tp, pp }: Parallel): Position {
  const tensor = rank % tp;
  const stage = Math.floor(rank / tp) % pp;
  const data = Math.floor(rank / (tp * pp));
  const at = (d: number, s: number, t: number): number => (d * pp + s) * tp + t;
  return {
    data,
    tensor,
    stage,
    dataGroup: Array.from({ length: dp }, (_, d) => at(d, stage, tensor)),
    tensorGroup: Array.from({ length: tp }, (_, t) => at(data, stage, t)),
    pipeline: Array.from({ length: pp }, (_, s) => at(data, s, tensor)),
  };
}
