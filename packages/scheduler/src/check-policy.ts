import { checkObject, checkOptions, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import type { OrderPolicy } from "./order-policy.js";
import type { QuitPolicy } from "./quit-policy.js";
import { SATURATED } from "./saturating.js";
import type { SchedulePolicy } from "./scheduler.js";
import type { StickinessPolicy } from "./stickiness-policy.js";

const policyFields: OptionNames<SchedulePolicy> = { order: true, stickiness: true, quit: true, streams: true };
const orderFields: OptionNames<OrderPolicy> = {
  kind: true,
  fetchEveryVisits: true,
  fetchWhenStuckVisits: true,
  fetchBatch: true,
  fetchesPerLap: true,
};
const stickinessFields: OptionNames<StickinessPolicy> = {
  kind: true,
  initialThreshold: true,
  minimumThreshold: true,
  maximumThreshold: true,
  perPositionDecrement: true,
  raiseFactor: true,
};
const ofPart = "an object as policyByName() has it";
const quitFields: OptionNames<QuitPolicy> = { kind: true, idleVisits: true, idleTicks: true, residencyTicks: true };

/**
 * Refuses fields that no policy has, which would have no effect.
 * @throws {InvalidArgumentError}, UnknownOptionError
 */
export function checkFields(argument: string, policy: { readonly [Part in keyof SchedulePolicy]?: unknown }, example: string): void {
  checkOptions(argument, policy, policyFields, example);
  const { order = {}, stickiness = {}, quit = {} } = policy as Partial<SchedulePolicy>;
  const prefix = argument === "policy" ? "" : `${argument}.`;
  checkOptions(`${prefix}order`, order as OrderPolicy, orderFields, ofPart);
  checkOptions(`${prefix}stickiness`, stickiness as StickinessPolicy, stickinessFields, ofPart);
  checkOptions(`${prefix}quit`, quit as QuitPolicy, quitFields, ofPart);
}

/**
 * Refuses a policy that the engine would refuse, naming the field.
 * @throws {InvalidArgumentError}
 */
export function checkPolicy(policy: SchedulePolicy): void {
  checkFields("policy", policy, "what policyByName() returns, or an object like it");
  const { order, stickiness, quit, streams } = policy;
  for (const [name, part] of Object.entries({ order, stickiness, quit })) checkObject(name, part, ofPart);
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
  if (typeof raiseFactor !== "number" || !Number.isInteger(raiseFactor * 256) || raiseFactor < 1 || raiseFactor > 256) {
    throw new InvalidArgumentError("stickiness.raiseFactor", raiseFactor, "a multiple of 1/256 from 1 to 256");
  }

  checkWithin("streams", streams, 0, SATURATED);
  if (streams !== 0 && order.kind !== "fifo") {
    throw new InvalidArgumentError("order.kind", order.kind, '"fifo" with streams, which keep the order of submission');
  }
}

function checkKind(field: string, kind: string, known: readonly string[]): void {
  if (typeof kind !== "string" || !known.includes(kind)) throw new InvalidArgumentError(field, kind, `one of ${known.join(", ")}`);
}

function checkWithin(field: string, value: number, least: number, most: number, why?: string): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new InvalidArgumentError(field, value, `an integer from ${least} to ${most}${why === undefined ? "" : ` (${why})`}`);
}
