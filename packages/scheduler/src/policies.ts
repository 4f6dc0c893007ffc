import { checkObject, InvalidArgumentError } from "@dfccl/primitives";
import { checkFields, checkPolicy } from "./check-policy.js";
import type { OrderPolicy } from "./order-policy.js";
import type { QuitPolicy } from "./quit-policy.js";
import type { SchedulePolicy } from "./scheduler.js";
import type { StickinessPolicy } from "./stickiness-policy.js";

/**
 * The policies that have a name. `default` is adaptive stickiness, and more urgent collectives first; those of equal
 * priority in the order in which they came.
 */
export const policyNames = ["default", "fixed", "decreasing", "adaptive", "priority", "in-order"] as const;
export type PolicyName = (typeof policyNames)[number];

/** Thresholds and periods; of which kind they are, a name says. A whole policy is one, too. */
export type PolicyNumbers = Pick<SchedulePolicy, "order" | "stickiness" | "quit">;

export interface PolicyOverrides {
  readonly order?: Partial<OrderPolicy>;
  readonly stickiness?: Partial<StickinessPolicy>;
  readonly quit?: Partial<QuitPolicy>;
  /** How many collectives run at once; for `in-order` only, 1 unless given. */
  readonly streams?: number;
}

/** What a name says. */
const named: Readonly<Record<PolicyName, PolicyOverrides>> = {
  default: { order: { kind: "priority" }, stickiness: { kind: "adaptive" } },
  fixed: { order: { kind: "fifo" }, stickiness: { kind: "fixed" } },
  decreasing: { order: { kind: "fifo" }, stickiness: { kind: "decreasing" } },
  adaptive: { order: { kind: "fifo" }, stickiness: { kind: "adaptive" } },
  priority: { order: { kind: "priority", fetchesPerLap: 64 }, stickiness: { kind: "adaptive" } },
  "in-order": {
    order: { kind: "fifo" },
    stickiness: { kind: "fixed" },
    quit: { kind: "whenEmpty", idleTicks: 0, residencyTicks: 0 },
    streams: 1,
  },
};

/**
 * A policy by name, with single fields replaced. A name says kinds and no numbers: how long it pays to wait differs between
 * CPUs, GPUs and simulations, so a world's policy has the numbers for worlds like it, and `simulationPolicy()` those for simulations.
 *
 * `in-order` never preempts and never leaves with work in its queue, which is what libraries without preemption do. It
 * exists to show their deadlocks; `streams` says how many collectives it runs at once.
 * @param numbers - a policy, such as a world's `policy`.
 * @throws {InvalidArgumentError} for an unknown name, UnknownOptionError for an unknown field, or where the result is no valid policy.
 * @example
 * const policy = policyByName("fixed", world.policy, { stickiness: { initialThreshold: 4 } });
 */
export function policyByName(name: PolicyName, numbers: PolicyNumbers, overrides: PolicyOverrides = {}): SchedulePolicy {
  if (!policyNames.includes(name)) throw new InvalidArgumentError("name", name, `one of ${policyNames.join(", ")}`);
  checkFields("numbers", numbers, "a policy, such as a world's");
  for (const part of ["order", "stickiness", "quit"] as const) checkObject(`numbers.${part}`, numbers[part], "that of a policy");
  checkFields("overrides", overrides, "an object such as { stickiness: { initialThreshold: 4 } }");
  const kinds = named[name];
  const streams = overrides.streams ?? kinds.streams ?? 0;
  if ((name === "in-order") !== (typeof streams === "number" && streams > 0)) {
    throw new InvalidArgumentError("streams", streams, 'at least 1 for "in-order", and none for other policies');
  }
  const policy: SchedulePolicy = {
    order: { ...numbers.order, ...kinds.order, ...overrides.order },
    stickiness: { ...numbers.stickiness, ...kinds.stickiness, ...overrides.stickiness },
    quit: { ...numbers.quit, ...kinds.quit, ...overrides.quit },
    streams,
  };
  checkPolicy(policy);
  return policy;
}
