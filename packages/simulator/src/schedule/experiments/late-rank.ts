import { checkInteger, checkOptions, type OptionNames } from "@dfccl/primitives";
import { type SchedulePolicy, simulationPolicy } from "@dfccl/scheduler";
import { RandomStream } from "../../deadlock/random-stream.js";
import { checkAbove0, checkTime } from "../check-scenario.js";
import { type DaemonCosts, gpuCosts, type HostAction, type ScheduleScenario } from "../scenario.js";
import { type ScheduleOptions, type ScheduleResult, simulateSchedule } from "../simulate-schedule.js";
import { infiniband, islands } from "../topology.js";

/** What the paper leaves open of the setting of its Fig. 11. */
export interface LateRankSetting {
  /** How much later than the others one rank does everything. */
  readonly lateNs: number;
  /** On the paper's servers the flags lie in host memory, and reading that over PCIe takes about 1.1 µs. */
  readonly pollNs: number;
  /** Most submissions that one look takes in; the paper says that daemons fetch aggressively. */
  readonly fetchBatch: number;
  readonly seed: number;
}

const settingNames: OptionNames<LateRankSetting> = { lateNs: true, pollNs: true, fetchBatch: true, seed: true };

/** What a policy makes of a rank that submits late. */
export interface LateRankResult {
  readonly policy: LateRankPolicy;
  readonly lateNs: number;
  /** Of training, if an iteration in which nobody is late has the paper's 500. */
  readonly samplesPerSecond: number;
  readonly result: ScheduleResult;
  /** `queues[rank]`: its task queue's length, each time that it changes. */
  readonly queues: readonly (readonly QueueChange[])[];
}

export type QueueChange = readonly [atNs: number, length: number];

export type LateRankPolicy = "fixed 10,000" | "adaptive 100,000 × 20";

// A daemon that waits longer than this quits and begins again millions of times.
const mostLateNs = 1e12;
const ranks = [0, 1, 2, 3];
const lateRank = 2;
// ResNet-50's 161 gradients, in a burst; ranks are out of step by a little.
const collectiveCount = 161;
const meanBytes = 635_000;
const submitEveryNs = 100_000;
const jitterNs = 1_000_000;
// Four GPUs with the paper's 96 samples each.
const samples = 384;
const punctualSamplesPerSecond = 500;

export const lateRankSetting: LateRankSetting = { lateNs: 30e6, pollNs: 1100, fetchBatch: 1024, seed: 1 };

/** The paper's two policies: 10,000 polls for everybody, or 100,000 at the front, less behind it, 20 times more after success. */
function policies(fetchBatch: number): Readonly<Record<LateRankPolicy, SchedulePolicy>> {
  const order = { fetchEveryVisits: 0, fetchWhenStuckVisits: 0, fetchBatch }; // new submissions when all that it has is stuck
  const quit = { idleVisits: 3_000_000, idleTicks: 0, residencyTicks: 0 };
  return {
    "fixed 10,000": simulationPolicy("fixed", { order, quit, stickiness: { initialThreshold: 10_000, maximumThreshold: 10_000 } }),
    "adaptive 100,000 × 20": simulationPolicy("adaptive", {
      order,
      quit,
      stickiness: { initialThreshold: 100_000, perPositionDecrement: 10_000, maximumThreshold: 2_000_000, raiseFactor: 20 },
    }),
  };
}

/** Four ranks go through the same list, one of them late; under both policies. @see DFCCL, Fig. 11 */
export function simulateLateRank(given: Partial<LateRankSetting> = {}): readonly LateRankResult[] {
  checkOptions("setting", given, settingNames, "an object such as { lateNs: 30e6 }");
  const setting = { ...lateRankSetting, ...given };
  checkTime("lateNs", setting.lateNs, mostLateNs);
  checkAbove0("pollNs", setting.pollNs, mostLateNs);
  checkInteger("seed", setting.seed, 0);
  return Object.entries(policies(setting.fetchBatch)).map(([name, policy]) => {
    const queues = ranks.map((): QueueChange[] => []);
    const result = run(policy, setting, (rank, atNs, length) => queues[rank]?.push([atNs, length]));
    const punctual = setting.lateNs === 0 ? result : run(policy, { ...setting, lateNs: 0 });
    const iterationNs = (1e9 * samples) / punctualSamplesPerSecond + result.endNs - punctual.endNs;
    const samplesPerSecond = (1e9 * samples) / iterationNs;
    return { policy: name as LateRankPolicy, lateNs: setting.lateNs, samplesPerSecond, result, queues };
  });
}

function run(
  policy: SchedulePolicy,
  { lateNs, pollNs, seed }: LateRankSetting,
  onQueueLength?: ScheduleOptions["onQueueLength"],
): ScheduleResult {
  const costs: DaemonCosts = { ...gpuCosts, pollNs };
  const scenario: ScheduleScenario = {
    topology: { ranksPerIsland: 8, island: islands.pcie, network: infiniband },
    costs,
    policy,
    collectives: Array.from({ length: collectiveCount }, () => ({ bytes: meanBytes, ranks, priority: 0 })),
    hosts: ranks.map((rank) => submissions(rank === lateRank ? lateNs : 0, new RandomStream().seed(seed, rank, 0))),
  };
  return simulateSchedule(scenario, onQueueLength === undefined ? {} : { onQueueLength });
}

function submissions(lateNs: number, random: RandomStream): readonly HostAction[] {
  let readyAt = 0;
  return Array.from({ length: collectiveCount }, (_, collective) => {
    readyAt = Math.max(readyAt, collective * submitEveryNs + random.uniform() * jitterNs);
    return { atNs: readyAt + lateNs, collective };
  });
}
