import { checkFunction, checkInteger, checkMethod, checkNumber, checkOptions, type OptionNames } from "@dfccl/primitives";
import { type Candidate, checkCandidate, checkRanges, type Parameter, type Ranges, roundParameter } from "./candidate.js";
import { type CurveFit, type CurvePoint, fitCurve } from "./fit-curve.js";
import { type Comparison, type Measure, measureInterleaved, type RecordedSample } from "./rounds.js";
import { median, medianDeviation, medianError, randomFrom } from "./statistics.js";

export interface TuneOptions {
  readonly measure: Measure;
  /** Where the search begins, and what every gain is measured against. */
  readonly start: Candidate;
  readonly ranges: Ranges;
  /** Values of the first, coarse look at a parameter; 9 unless given, 3 to 1024. */
  readonly gridPoints?: number;
  /** Finer looks around the best value; 2 unless given, at most 64. */
  readonly zooms?: number;
  /** Repetitions of each look; 5 unless given. More for a noisier machine. */
  readonly rounds?: number;
  /** Of the order of measurements. */
  readonly seed?: number;
  readonly signal?: AbortSignal;
  /** Called after each look. */
  readonly onProgress?: (progress: { readonly parameter: Parameter; readonly look: number; readonly looks: number }) => void;
}

/** A point of a curve, with how sure it is. */
export interface MeasuredPoint extends CurvePoint {
  /** Time over the reference's time: what the tuner compares. */
  readonly ratio: number;
  /** Median deviation of the ratios of single rounds. */
  readonly spread: number;
}

export interface TuneResult {
  readonly best: Candidate;
  /** Time of `best` over the time of `start`, each step of the search multiplied; below 1 is a gain. */
  readonly gain: number;
  /** Cost over the initial threshold, ordered by it. */
  readonly curve: readonly MeasuredPoint[];
  /** T(N) = a · N + b / N + c, fitted to `curve`. */
  readonly fit: CurveFit;
  /** Cost over the other parameters. */
  readonly otherCurves: Readonly<Record<Exclude<Parameter, "initialThreshold">, readonly MeasuredPoint[]>>;
  readonly samples: readonly RecordedSample[];
}

const optionNames: OptionNames<TuneOptions> = {
  measure: true,
  start: true,
  ranges: true,
  gridPoints: true,
  zooms: true,
  rounds: true,
  seed: true,
  signal: true,
  onProgress: true,
};

const zoomPoints = 5;
// How many times the rounds of a look the last one has, which compares the best value with the reference only.
const confirmationFactor = 3;
// Standard errors by which a gain must exceed zero: by chance, about one parameter in two hundred would.
const sureness = 2.5;

/**
 * Finds initial threshold, raise factor and quit period, one after the other, by measuring: a coarse geometric grid, then
 * finer ones around the best value. A parameter keeps its value unless another, measured anew, is better by more than the
 * noise.
 * @throws {InvalidArgumentError} for ranges that allow no policy, or where `measure` returns no time.
 * @throws what `signal` was aborted with, or what `measure` throws.
 * @see DFCCL, sections 4.3 and 4.5
 */
export async function tune(options: TuneOptions): Promise<TuneResult> {
  checkOptions("options", options, optionNames, "an object such as { measure, start, ranges }");
  checkRanges(options.ranges);
  const { measure, start, gridPoints, zooms, rounds, seed, signal, onProgress } = options;
  checkFunction("measure", measure, "a function that measures a candidate");
  checkCandidate("start", start);
  if (gridPoints !== undefined) checkInteger("gridPoints", gridPoints, 3, 1024);
  if (zooms !== undefined) checkInteger("zooms", zooms, 0, 64);
  if (rounds !== undefined) checkInteger("rounds", rounds, 1, 1_000_000);
  if (seed !== undefined) checkNumber("seed", seed);
  if (signal !== undefined) checkMethod("signal", signal, "throwIfAborted", "the signal of an AbortController");
  if (onProgress !== undefined) checkFunction("onProgress", onProgress, "a function");
  const random = randomFrom(options.seed ?? 1);
  const samples: RecordedSample[] = [];
  let best = options.start;
  let gain = 1;
  const search = async (parameter: Parameter): Promise<readonly MeasuredPoint[]> => {
    const found = await searchParameter(options, parameter, best, random);
    samples.push(...found.samples);
    best = { ...best, [parameter]: found.value };
    gain *= found.ratio;
    return found.curve;
  };
  const curve = await search("initialThreshold");
  const otherCurves = { raiseFactor: await search("raiseFactor"), idleVisits: await search("idleVisits") };
  return { best, gain, curve, fit: fitCurve(curve), otherCurves, samples };
}

async function searchParameter(options: TuneOptions, parameter: Parameter, reference: Candidate, random: () => number) {
  const { measure, ranges, gridPoints = 9, zooms = 2, rounds = 5, signal } = options;
  const ratios = new Map<number, number[]>();
  const referenceNs: number[] = [];
  const samples: RecordedSample[] = [];
  const looks = zooms + 2;
  const look = async (index: number, values: readonly number[], repetitions: number): Promise<readonly Comparison[]> => {
    const candidates = values.map((value) => ({ ...reference, [parameter]: value }));
    const measured = await measureInterleaved(measure, candidates, reference, { rounds: repetitions, random, signal });
    referenceNs.push(...measured.referenceNs);
    samples.push(...measured.samples);
    options.onProgress?.({ parameter, look: index, looks });
    return measured.comparisons;
  };

  let values = grid(parameter, ranges[parameter], gridPoints);
  for (let index = 1; index < looks; index += 1) {
    for (const { candidate, ratios: more } of await look(index, values, rounds)) {
      const value = candidate[parameter];
      ratios.set(value, [...(ratios.get(value) ?? []), ...more]);
    }
    values = grid(parameter, neighbours(ratios), zoomPoints);
  }
  const ns = median(referenceNs);
  const curve = [...ratios]
    .map(([value, of]): MeasuredPoint => ({ value, ns: median(of) * ns, ratio: median(of), spread: medianDeviation(of) }))
    .sort((a, b) => a.value - b.value);
  const { value } = curve.reduce((a, b) => (b.ratio < a.ratio ? b : a));

  // The lowest of many noisy ratios is low by luck too, so only new measurements tell whether it is better.
  const [confirmation] = await look(looks, [value], rounds * confirmationFactor);
  const ratio = median(confirmation?.ratios ?? [1]);
  const isBetter = 1 - ratio > sureness * medianError(confirmation?.ratios ?? [1]);
  return { value: isBetter ? value : reference[parameter], ratio: isBetter ? ratio : 1, curve, samples };
}

/** `count` values from least to most, each the same factor above the one before. */
function grid(parameter: Parameter, [least, most]: readonly [number, number], count: number): number[] {
  const values = Array.from({ length: count }, (_, i) => roundParameter(parameter, least * (most / least) ** (i / (count - 1))));
  return [...new Set(values)];
}

/** The measured values on both sides of the best one. */
function neighbours(ratios: ReadonlyMap<number, readonly number[]>): readonly [number, number] {
  const points = [...ratios].map(([value, of]) => ({ value, ratio: median(of) })).sort((a, b) => a.value - b.value);
  const best = points.reduce(
    (lowest, point, index) => (point.ratio < (points[lowest]?.ratio ?? Number.POSITIVE_INFINITY) ? index : lowest),
    0,
  );
  const at = (index: number): number => points[Math.min(Math.max(index, 0), points.length - 1)]?.value ?? 1;
  return [at(best - 1), at(best + 1)];
}
