import { policyByName, type SchedulePolicy } from "@dfccl/scheduler";
import { gpuCosts, type ScheduleScenario } from "../scenario.js";
import { type ScheduleResult, simulateSchedule } from "../simulate-schedule.js";
import { infiniband, islands } from "../topology.js";

/** What a policy makes of a rank that submits late: the setting of DFCCL's Fig. 11. */
export interface LateRankResult {
  readonly policy: string;
  readonly lateNs: number;
  readonly result: ScheduleResult;
}

const ranks = [0, 1, 2, 3];
const lateRank = 2;
// ResNet-50's 161 gradients, in a burst.
const collectiveCount = 161;
const meanBytes = 635_000;
const submitEveryNs = 100_000;

// The paper's figures count polls, as ours do. It takes new submissions when everything that it has is stuck.
const order = { fetchEveryVisits: 0, fetchWhenStuckVisits: 0, fetchBatch: 1 };
const quit = { idleVisits: 3_000_000, idleTicks: 0, residencyTicks: 0 };

/** The paper's two policies: 10,000 polls for everybody, or 100,000 at the front, less behind it, 20 times more after success. */
export const lateRankPolicies: Readonly<Record<"fixed 10,000" | "adaptive 100,000 × 20", SchedulePolicy>> = {
  "fixed 10,000": policyByName("fixed", { order, quit, stickiness: { initialThreshold: 10_000, maximumThreshold: 10_000 } }),
  "adaptive 100,000 × 20": policyByName("adaptive", {
    order,
    quit,
    stickiness: { initialThreshold: 100_000, perPositionDecrement: 10_000, maximumThreshold: 2_000_000, raiseFactor: 20 },
  }),
};

/** Four ranks go through the same list; one of them is late. @see DFCCL, Fig. 11 */
export function simulateLateRank(lateNs: number): readonly LateRankResult[] {
  return Object.entries(lateRankPolicies).map(([policy, schedule]) => ({
    policy,
    lateNs,
    result: simulateSchedule(lateRankScenario(schedule, lateNs)),
  }));
}

function lateRankScenario(policy: SchedulePolicy, lateNs: number): ScheduleScenario {
  return {
    topology: { ranksPerIsland: 8, island: islands.pcie, network: infiniband },
    costs: gpuCosts,
    policy,
    collectives: Array.from({ length: collectiveCount }, () => ({ bytes: meanBytes, ranks, priority: 0 })),
    hosts: ranks.map((rank) =>
      Array.from({ length: collectiveCount }, (_, collective) => ({
        atNs: collective * submitEveryNs + (rank === lateRank ? lateNs : 0),
        collective,
      })),
    ),
  };
}
