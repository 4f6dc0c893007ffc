import { saturatingMultiply, saturatingScale, saturatingSubtract } from "./saturating.js";

/**
 * `fixed`: one threshold for every task. `decreasing`: the largest at the front of the queue, less behind.
 * `adaptive`: decreasing, and raised at every success, so that ranks come to wait for the same collective.
 */
export type StickinessKind = "fixed" | "decreasing" | "adaptive";

/**
 * How many polls in a row a task may fail before it is preempted. Thresholds count visits and never wrap.
 * @see DFCCL, section 4.3; OCCL, section 3.2
 */
export interface StickinessPolicy {
  readonly kind: StickinessKind;
  /** Of the task at the front of the queue. */
  readonly initialThreshold: number;
  /** At least 1. */
  readonly minimumThreshold: number;
  /** Below the visits after which the daemon quits: a task that could outwait the daemon would never be preempted. */
  readonly maximumThreshold: number;
  readonly perPositionDecrement: number;
  /** 1 to 256, a multiple of 1/256: the engine computes in integers. */
  readonly raiseFactor: number;
}

function clampThreshold(policy: StickinessPolicy, threshold: number): number {
  return Math.max(Math.min(threshold, policy.maximumThreshold), policy.minimumThreshold, 1);
}

/** Threshold with which the task at `position` of the queue begins its turn. */
export function initialThreshold(policy: StickinessPolicy, position: number): number {
  if (policy.kind === "fixed") return clampThreshold(policy, policy.initialThreshold);
  const decrement = saturatingMultiply(position, policy.perPositionDecrement);
  return clampThreshold(policy, saturatingSubtract(policy.initialThreshold, decrement));
}

/** Threshold after a committed slice. */
export function onSuccess(policy: StickinessPolicy, threshold: number): number {
  if (policy.kind !== "adaptive") return threshold;
  return clampThreshold(policy, saturatingScale(threshold, policy.raiseFactor));
}

/** Threshold of a preempted task's next turn, if that begins at `position`: what it earned ends with its turn (DFCCL, Algorithm 1). */
export function onPreempt(policy: StickinessPolicy, position: number): number {
  return initialThreshold(policy, position);
}
