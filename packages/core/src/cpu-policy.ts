import type { PolicyName, PolicyOverrides } from "@dfccl/scheduler";

/**
 * What differs on a CPU. A poll there is a visit of a thread that has other ranks to step, often the very rank that is
 * waited for: sticking to a task for long only keeps that thread from it. Measured: thresholds above a few visits slow
 * random orders down; see docs/decisions/.
 */
export function cpuPolicy(name: PolicyName): PolicyOverrides {
  if (name === "in-order")
    return { quit: { idleVisits: 64, idleTicks: 0 }, stickiness: { maximumThreshold: 8, initialThreshold: 1, minimumThreshold: 1 } };
  return {
    order: { fetchBatch: 256 },
    stickiness: { initialThreshold: 1, minimumThreshold: 1, maximumThreshold: 8, perPositionDecrement: 0 },
    quit: { idleVisits: 16, idleTicks: 200_000, residencyTicks: 3_000_000 },
  };
}
