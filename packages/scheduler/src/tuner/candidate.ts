import { checkNumber, checkObject, InvalidArgumentError } from "@dfccl/primitives";
import { checkPolicy } from "../check-policy.js";
import type { SchedulePolicy } from "../scheduler.js";

/** The parameters that the tuner looks for. */
export interface Candidate {
  /** Spin threshold of the task at the front of the queue, in visits. */
  readonly initialThreshold: number;
  /** By how much a success raises the threshold: 1 to 256, a multiple of 1/256. */
  readonly raiseFactor: number;
  /** The quit period: visits without a fetch and without progress. */
  readonly idleVisits: number;
}

export type Parameter = keyof Candidate;

const parameters = ["initialThreshold", "raiseFactor", "idleVisits"] as const satisfies readonly Parameter[];

/** Smallest and largest value to try of each parameter. */
export type Ranges = Readonly<Record<Parameter, readonly [least: number, most: number]>>;

/** The values of `policy`, where a search begins. */
export function candidateOf(policy: SchedulePolicy): Candidate {
  checkPolicy(policy);
  const { stickiness, quit } = policy;
  return { initialThreshold: stickiness.initialThreshold, raiseFactor: stickiness.raiseFactor, idleVisits: quit.idleVisits };
}

/**
 * `policy` with the candidate's values. What depends on them follows: the decrement keeps its proportion to the initial
 * threshold, and the maximum stays above the initial threshold and below the quit period.
 * @throws {InvalidArgumentError} where no valid policy has these values.
 */
export function applyCandidate(policy: SchedulePolicy, candidate: Candidate): SchedulePolicy {
  checkPolicy(policy);
  checkCandidate("candidate", candidate);
  const { stickiness, quit } = policy;
  const { initialThreshold, raiseFactor, idleVisits } = candidate;
  const scale = initialThreshold / stickiness.initialThreshold;
  const highest = Math.max(stickiness.maximumThreshold, initialThreshold);
  const tuned: SchedulePolicy = {
    ...policy,
    stickiness: {
      ...stickiness,
      initialThreshold,
      raiseFactor,
      minimumThreshold: Math.min(stickiness.minimumThreshold, initialThreshold),
      maximumThreshold: idleVisits === 0 ? highest : Math.min(highest, idleVisits - 1),
      perPositionDecrement: Math.round(stickiness.perPositionDecrement * scale),
    },
    quit: { ...quit, idleVisits },
  };
  checkPolicy(tuned);
  return tuned;
}

/** @throws {InvalidArgumentError} */
export function checkCandidate(argument: string, candidate: Candidate): void {
  checkObject(argument, candidate, "an object such as { initialThreshold: 64, raiseFactor: 2, idleVisits: 20000 }");
  for (const parameter of parameters) checkNumber(`${argument}.${parameter}`, candidate[parameter]);
}

/** The nearest value that the engine can hold. */
export function roundParameter(parameter: Parameter, value: number): number {
  return parameter === "raiseFactor" ? Math.round(value * 256) / 256 : Math.round(value);
}

/** @throws {InvalidArgumentError} for ranges whose candidates would not all make a policy. */
export function checkRanges(ranges: Ranges): void {
  const limits: Ranges = { initialThreshold: [1, 0xffff_fffe], raiseFactor: [1, 256], idleVisits: [2, 0xffff_ffff] };
  checkObject("ranges", ranges, "an object such as { initialThreshold: [1, 4096], raiseFactor: [1, 4], idleVisits: [5000, 20000] }");
  for (const parameter of parameters) {
    const [lowest, highest] = limits[parameter];
    const [least, most] = pairOf(ranges[parameter]);
    const isPossible = least >= lowest && most <= highest && least <= most && roundParameter(parameter, least) === least;
    if (!isPossible || roundParameter(parameter, most) !== most) {
      throw new InvalidArgumentError(`ranges.${parameter}`, ranges[parameter], `two values in order, from ${lowest} to ${highest}`);
    }
  }
  const [, mostThreshold] = ranges.initialThreshold;
  const [leastVisits] = ranges.idleVisits;
  if (mostThreshold >= leastVisits) {
    throw new InvalidArgumentError("ranges.initialThreshold", ranges.initialThreshold, `values below every quit period (${leastVisits})`);
  }
}

/** NaN where there are no two numbers, which is within no limits. */
function pairOf(range: unknown): readonly [number, number] {
  const [least, most]: readonly unknown[] = Array.isArray(range) ? range : [];
  return typeof least === "number" && typeof most === "number" ? [least, most] : [Number.NaN, Number.NaN];
}
