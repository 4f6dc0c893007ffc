import { checkObject, InvalidArgumentError } from "@dfccl/primitives";
import { SATURATED } from "./saturating.js";
import type { SchedulePolicy } from "./scheduler.js";

/**
 * Refuses a policy that the engine would refuse, naming the field.
 * @throws {InvalidArgumentError}
 */
export function checkPolicy(policy: SchedulePolicy): void {
  checkObject("policy", policy, "what policyByName() returns, or an object like it");
  const { order, stickiness, quit, streams } = policy;
  for (const [name, part] of Object.entries({ order, stickiness, quit })) checkObject(name, part, "an object as policyByName() has it");
  checkKind("order.kind", order.kind, ["fifo", "lifo", "priority"]);
  checkWithin("order.fetchEveryVisits", order.fetchEveryVisits, 0, SATURATED);
  checkWithin("order.fetchWhenStuckVisits", order.fetchWhenStuckVisits, 0, SATURATED);
  checkWithin("order.fetchBatch", order.fetchBatch, 1, SATURATED);
  checkWithin("order.fetchesPerLap", order.fetchesPerLap, 1, SATURATED);

  checkKind("quit.kind", quit.kind, ["never", "whenEmpty", "voluntary"]);
  checkWithin("quit.idleVisits", quit.idleVisits, 0, SATURATED);
  checkWithin("quit.idleTicks", quit.idleTicks, 0, Number.MAX_SAFE_INTEGER);
  checkWithin("quit.residencyTicks", quit.residencyTicks, 0, Number.MAX_SAFE_INTEGER);

  checkKind("stickiness.kind", stickiness.kind, ["fixed", "decreasing", "adaptive"]);
  const largest = quit.idleVisits === 0 ? SATURATED : quit.idleVisits - 1;
  checkWithin("stickiness.maximumThreshold", stickiness.maximumThreshold, 1, largest, "below quit.idleVisits");
  checkWithin("stickiness.minimumThreshold", stickiness.minimumThreshold, 1, stickiness.maximumThreshold);
  checkWithin(
    "stickiness.initialThreshold",
    stickiness.initialThreshold,
    stickiness.minimumThreshold,
    stickiness.maximumThreshold,
    "between the minimum and the maximum threshold",
  );
  checkWithin("stickiness.perPositionDecrement", stickiness.perPositionDecrement, 0, SATURATED);
  const { raiseFactor } = stickiness;
  if (!Number.isInteger(raiseFactor * 256) || raiseFactor < 1 || raiseFactor > 256) {
    throw new InvalidArgumentError("stickiness.raiseFactor", raiseFactor, "a multiple of 1/256 from 1 to 256");
  }

  checkWithin("streams", streams, 0, SATURATED);
  if (streams !== 0 && order.kind !== "fifo") {
    throw new InvalidArgumentError("order.kind", order.kind, '"fifo" with streams, which keep the order of submission');
  }
}

function checkKind(field: string, kind: string, known: readonly string[]): void {
  if (!known.includes(kind)) throw new InvalidArgumentError(field, kind, `one of ${known.join(", ")}`);
}

function checkWithin(field: string, value: number, least: number, most: number, why?: string): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new InvalidArgumentError(field, value, `an integer from ${least} to ${most}${why === undefined ? "" : ` (${why})`}`);
}
