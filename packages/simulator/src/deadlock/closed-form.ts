import { checkInteger } from "@dfccl/primitives";
import { checkProbability } from "../check-probability.js";

/**
 * Probability that one group deadlocks in the single-queue model: that not every GPU keeps to the list. Each of its picks
 * but the last leaves the list's order with probability p, and GPUs that all leave it in the same way are too rare to count.
 * @param collectives - of the group; each GPU submits them all.
 */
export function oneGroupRatio(gpus: number, collectives: number, disorderProbability: number): number {
  checkInteger("gpus", gpus, 1);
  checkInteger("collectives", collectives, 1);
  checkProbability("disorderProbability", disorderProbability);
  if (collectives === 1) return 0; // no order to leave, even where it is always left
  return -Math.expm1(gpus * (collectives - 1) * Math.log1p(-disorderProbability));
}
