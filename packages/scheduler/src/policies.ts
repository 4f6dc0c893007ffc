import { InvalidArgumentError } from "@dfccl/primitives";
import { checkFields, checkPolicy } from "./check-policy.js";
import type { OrderPolicy } from "./order-policy.js";
import type { QuitPolicy } from "./quit-policy.js";
import type { SchedulePolicy } from "./scheduler.js";
import type { StickinessPolicy } from "./stickiness-policy.js";

/**
 * The policies that have a name. `default` is adaptive stickiness, and more urgent collectives first; those of equal
 * priority in the order in which they came. Worlds of `@dfccl/core` have the engine's numbers in place of these.
 */
export const policyNames = ["default", "fixed", "decreasing", "adaptive", "priority", "in-order"] as const;
export type PolicyName = (typeof policyNames)[number];

export interface PolicyOverrides {
  readonly order?: Partial<OrderPolicy>;
  readonly stickiness?: Partial<StickinessPolicy>;
  readonly quit?: Partial<QuitPolicy>;
  /** How many collectives run at once; for `in-order` only, 1 unless given. */
  readonly streams?: number;
}

// Fetches eagerly where the paper's FIFO waits: a collective that publishes its buffers at intake lets its peers advance
// before its own turn comes, which cut preemptions more than tenfold when the design was measured.
const eagerFifo: OrderPolicy = {
  kind: "fifo",
  fetchEveryVisits: 1,
  fetchWhenStuckVisits: 0,
  fetchBatch: 8,
  fetchesPerLap: 1024,
};

const adaptive: StickinessPolicy = {
  kind: "adaptive",
  initialThreshold: 64,
  minimumThreshold: 8,
  maximumThreshold: 4096,
  perPositionDecrement: 8,
  raiseFactor: 2,
};

// Ticks are nanoseconds on both of the engine's platforms: a stay of at most 2 ms.
const voluntary: QuitPolicy = { kind: "voluntary", idleVisits: 20_000, idleTicks: 0, residencyTicks: 2_000_000 };

const presets: Readonly<Record<PolicyName, SchedulePolicy>> = {
  default: { order: { ...eagerFifo, kind: "priority" }, stickiness: adaptive, quit: voluntary, streams: 0 },
  fixed: { order: eagerFifo, stickiness: { ...adaptive, kind: "fixed" }, quit: voluntary, streams: 0 },
  decreasing: { order: eagerFifo, stickiness: { ...adaptive, kind: "decreasing" }, quit: voluntary, streams: 0 },
  adaptive: { order: eagerFifo, stickiness: adaptive, quit: voluntary, streams: 0 },
  priority: { order: { ...eagerFifo, kind: "priority", fetchesPerLap: 64 }, stickiness: adaptive, quit: voluntary, streams: 0 },
  "in-order": {
    order: eagerFifo,
    stickiness: { ...adaptive, kind: "fixed" },
    quit: { kind: "whenEmpty", idleVisits: 20_000, idleTicks: 0, residencyTicks: 0 },
    streams: 1,
  },
};

/**
 * A policy by name, with single fields replaced.
 *
 * `in-order` never preempts and never leaves with work in its queue, which is what libraries without preemption do. It
 * exists to show their deadlocks; `streams` says how many collectives it runs at once.
 * @throws {InvalidArgumentError} for an unknown name, UnknownOptionError for an unknown field, or where the result is no valid policy.
 * @example
 * const policy = policyByName("adaptive", { stickiness: { initialThreshold: 256 } });
 */
export function policyByName(name: PolicyName, overrides: PolicyOverrides = {}): SchedulePolicy {
  if (!policyNames.includes(name)) throw new InvalidArgumentError("name", name, `one of ${policyNames.join(", ")}`);
  checkFields("overrides", overrides, "an object such as { stickiness: { initialThreshold: 256 } }");
  const preset = presets[name];
  const streams = overrides.streams ?? preset.streams;
  if ((name === "in-order") !== (typeof streams === "number" && streams > 0)) {
    throw new InvalidArgumentError("streams", streams, 'at least 1 for "in-order", and none for other policies');
  }
  const policy: SchedulePolicy = {
    order: { ...preset.order, ...overrides.order },
    stickiness: { ...preset.stickiness, ...overrides.stickiness },
    quit: { ...preset.quit, ...overrides.quit },
    streams,
  };
  checkPolicy(policy);
  return policy;
}
