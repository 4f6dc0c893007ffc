import { InvalidArgumentError } from "@dfccl/primitives";
import type { Candidate } from "./candidate.js";
import { median, shuffle } from "./statistics.js";

/** One measured run. */
export interface TimeSample {
  readonly ns: number;
}

/** Measures a candidate: one or several runs of the same work. The tuner never calls it twice at once. */
export type Measure = (candidate: Candidate) => readonly TimeSample[] | Promise<readonly TimeSample[]>;

/** One call of `measure`, as it is kept. */
export interface RecordedSample {
  readonly candidate: Candidate;
  /** Median of the call's samples. */
  readonly ns: number;
}

/** What a series of rounds says about one candidate. */
export interface Comparison {
  readonly candidate: Candidate;
  /** Its time over the reference's time in the same round; one a round. */
  readonly ratios: readonly number[];
}

export interface Rounds {
  readonly comparisons: readonly Comparison[];
  readonly referenceNs: readonly number[];
  readonly samples: readonly RecordedSample[];
}

/**
 * Measures candidates against a reference, interleaved. Machines drift and flip between states, so times of different
 * moments don't compare: each round measures every candidate once, in a new random order, with the reference before, after
 * and between them, and a candidate's time is divided by those of its two neighbours.
 * @throws {InvalidArgumentError} where `measure` returns no samples, or a time that is none.
 */
export async function measureInterleaved(
  measure: Measure,
  candidates: readonly Candidate[],
  reference: Candidate,
  options: { readonly rounds: number; readonly random: () => number; readonly signal?: AbortSignal | undefined },
): Promise<Rounds> {
  const ratios = new Map<Candidate, number[]>(candidates.map((candidate) => [candidate, []]));
  const referenceNs: number[] = [];
  const samples: RecordedSample[] = [];
  const run = async (candidate: Candidate): Promise<number> => {
    options.signal?.throwIfAborted();
    const ns = medianTime(await measure(candidate));
    samples.push({ candidate, ns });
    return ns;
  };
  for (let round = 0; round < options.rounds; round += 1) {
    let before = await run(reference);
    referenceNs.push(before);
    for (const candidate of shuffle(candidates, options.random)) {
      const ns = await run(candidate);
      const after = await run(reference);
      referenceNs.push(after);
      ratios.get(candidate)?.push((2 * ns) / (before + after));
      before = after;
    }
  }
  const comparisons = candidates.map((candidate) => ({ candidate, ratios: ratios.get(candidate) ?? [] }));
  return { comparisons, referenceNs, samples };
}

function medianTime(runs: readonly TimeSample[]): number {
  const times: readonly unknown[] = Array.isArray(runs) ? runs.map((run: TimeSample | null | undefined) => run?.ns) : [];
  if (times.length > 0 && times.every((ns) => typeof ns === "number" && Number.isFinite(ns) && ns > 0)) return median(times as number[]);
  throw new InvalidArgumentError(
    "the result of measure",
    Array.isArray(runs) ? times : runs,
    "at least one {ns}, each a finite number above 0",
  );
}
