import { type PolicyName, type PolicyNumbers, type PolicyOverrides, policyByName } from "./policies.js";
import type { SchedulePolicy } from "./scheduler.js";

// Not the engine's, whose visits are shorter: docs/decisions/0044-simulations-have-numbers-of-their-own.md.
const numbers: PolicyNumbers = {
  // Fetches eagerly where the paper's FIFO waits: a collective that publishes its buffers at intake lets its peers advance
  // before its own turn comes, which cut preemptions more than tenfold when the design was measured.
  order: { kind: "priority", fetchEveryVisits: 1, fetchWhenStuckVisits: 0, fetchBatch: 8, fetchesPerLap: 1024 },
  stickiness: {
    kind: "adaptive",
    initialThreshold: 64,
    minimumThreshold: 8,
    maximumThreshold: 4096,
    perPositionDecrement: 8,
    raiseFactor: 2,
  },
  // Ticks are nanoseconds: a stay of at most 2 ms.
  quit: { kind: "voluntary", idleVisits: 20_000, idleTicks: 0, residencyTicks: 2_000_000 },
};

/**
 * A policy by name for a simulation, with single fields replaced. A world that is given one waits far longer than is good for it:
 * open it with the name itself.
 * @throws {InvalidArgumentError} as `policyByName()` does.
 * @example
 * const policy = simulationPolicy("adaptive", { stickiness: { initialThreshold: 256 } });
 */
export function simulationPolicy(name: PolicyName, overrides: PolicyOverrides = {}): SchedulePolicy {
  return policyByName(name, numbers, overrides);
}
