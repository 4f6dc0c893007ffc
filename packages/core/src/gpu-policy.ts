import type { PolicyName, PolicyOverrides } from "@dfccl/scheduler";

/** What differs on a GPU, where a poll costs less than a visit of another task. The same as the C API's defaults there. */
export function gpuPolicy(name: PolicyName): PolicyOverrides {
  if (name === "in-order") return {};
  return {
    order: { fetchBatch: 256, fetchEveryVisits: 64 },
    stickiness: { initialThreshold: 2, minimumThreshold: 1, maximumThreshold: 32, perPositionDecrement: 0 },
    quit: { idleVisits: 64, idleTicks: 200_000, residencyTicks: 4_000_000 },
  };
}

/** As the C API's: 73 times what the 448 workers of a block read at once, 8 pieces of 16 bytes each. */
export const gpuTileBytes = 73 * 448 * 8 * 16;
