import type { Candidate, Measure } from "../../src/tuner/index.js";
import { randomFrom } from "../../src/tuner/statistics.js";

export interface SyntheticMachine {
  /** Threshold, raise factor and quit period at which the work is cheapest. */
  readonly optimum: Candidate;
  /** Standard deviation of a run, relative. */
  readonly noise: number;
  /** The machine now and then changes into a state in which everything takes this much longer, and back. */
  readonly slowState: number;
  readonly seed: number;
}

/** Expression 2 of the DFCCL paper for each parameter: lowest, at 2 units, where the parameter is `optimum`. */
function shape(value: number, optimum: number): number {
  return value / optimum + optimum / value;
}

export function trueNs(candidate: Candidate, optimum: Candidate): number {
  const threshold = shape(candidate.initialThreshold, optimum.initialThreshold);
  const raise = shape(candidate.raiseFactor, optimum.raiseFactor);
  const quit = shape(candidate.idleVisits, optimum.idleVisits);
  return 1000 * (4 + threshold + raise / 2 + quit / 2);
}

/** Three runs a call, with noise that is reproducible from the seed. */
export function syntheticMeasure({ optimum, noise, slowState, seed }: SyntheticMachine): Measure {
  const random = randomFrom(seed);
  const gaussian = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let isSlow = false;
  return (candidate) => {
    if (random() < 0.01) isSlow = !isSlow;
    const ns = trueNs(candidate, optimum) * (isSlow ? slowState : 1);
    return Array.from({ length: 3 }, () => ({ ns: ns * Math.exp(noise * gaussian()) }));
  };
}
