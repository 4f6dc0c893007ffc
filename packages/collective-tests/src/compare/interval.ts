import { checkNumber } from "@dfccl/primitives";
import { readTimes } from "../statistics.js";

/** How many times as long B takes as A, and between which values that lies with 95% confidence. */
export interface RatioInterval {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

const resamples = 2000;
/** Fewer say too little about how they scatter. */
export const fewestSamples = 5;

/**
 * The ratio of two medians with its bootstrap interval: nothing is assumed of how times scatter, and a few outliers don't
 * matter. The same samples give the same interval.
 * @returns undefined with fewer than five samples on a side.
 */
export function ratioOfMedians(timesOfA: readonly number[], timesOfB: readonly number[], seed = 1): RatioInterval | undefined {
  const [a, b] = [readTimes("a", timesOfA), readTimes("b", timesOfB)];
  checkNumber("seed", seed);
  if (Math.min(a.length, b.length) < fewestSamples) return undefined;
  const random = xorshift(seed);
  const [left, right] = [resampler(a, random), resampler(b, random)];
  const ratios = Float64Array.from({ length: resamples }, () => right() / left()).sort();
  const at = (share: number): number => ratios[Math.round(share * (resamples - 1))] ?? Number.NaN;
  return { ratio: medianOf(Float64Array.from(b)) / medianOf(Float64Array.from(a)), low: at(0.025), high: at(0.975) };
}

/** Medians of as many samples, drawn with replacement. */
function resampler(samples: readonly number[], random: () => number): () => number {
  const drawn = new Float64Array(samples.length);
  return () => {
    for (let i = 0; i < drawn.length; i += 1) drawn[i] = samples[Math.floor(random() * samples.length)] ?? 0;
    return medianOf(drawn);
  };
}

function medianOf(values: Float64Array): number {
  const sorted = values.sort();
  const half = sorted.length >> 1;
  const [upper = Number.NaN, lower = Number.NaN] = [sorted[half], sorted[(sorted.length - 1) >> 1]];
  return (upper + lower) / 2;
}

/** Marsaglia's 32-bit xorshift: numbers from 0 to below 1. */
function xorshift(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
