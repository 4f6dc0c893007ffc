import { checkInteger } from "@dfccl/primitives";

// Of the standard normal distribution, two-sided 95%.
const z = 1.959963984540054;

/** Wilson's 95% interval for a probability of which `hits` of `trials` were seen. [0, 1] without trials. */
export function confidenceInterval(hits: number, trials: number): readonly [number, number] {
  checkInteger("trials", trials, 0);
  checkInteger("hits", hits, 0, trials);
  if (trials === 0) return [0, 1];
  const share = hits / trials;
  const spread = (z * z) / trials;
  const middle = (share + spread / 2) / (1 + spread);
  const half = (z * Math.sqrt((share * (1 - share)) / trials + spread / (4 * trials))) / (1 + spread);
  return [hits === 0 ? 0 : middle - half, hits === trials ? 1 : middle + half];
}
