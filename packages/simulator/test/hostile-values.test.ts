import { buildProgram } from "@dfccl/primitives";
import { expect, test } from "vitest";
import { testHostileValues } from "../../../scripts/lib/hostile-values.js";
import type { Cluster, DeadlockOptions, ScheduleWorkload } from "../src/index.js";
import * as simulator from "../src/index.js";

const config = simulator.parseDeadlockConfig({
  model: "synchronization",
  grouping: { policy: "3d", tp: 2, dp: 2, pp: 1, collectivesPerTpGroup: 16, collectivesPerDpGroup: 16 },
  disorderProbability: 0.2,
  synchronizationProbability: 0.2,
  listOrder: "concatenated",
});
const { firstDeadlock: round = -1 } = await simulator.simulateDeadlocks(config, { rounds: 100, seed: 1, workers: 0 });
const explanation = simulator.explainDeadlock(config, 1, round);
const options = { rounds: 2, seed: 1, shortcutRounds: 1, replays: 1, wholeReplays: 1, onProgress: () => {} };
const workload: ScheduleWorkload = simulator.parseScheduleWorkload({
  ranks: 2,
  topology: { ranksPerIsland: 2, island: simulator.islands.nvlink, network: simulator.infiniband },
  collectives: [{ bytes: 1024, atNs: 0 }],
  late: [{ rank: 1, byNs: 100 }],
});
const scenario = simulator.scenarioOf(workload, 1);
const cluster: Cluster = { gpusPerNode: 2, cardsPerNode: 1, island: simulator.islands.nvlink, network: simulator.infiniband };
const program = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 2 });
const cases = [2, 4].flatMap((ranks) =>
  [10, 12, 14, 16, 18, 20, 22].map((log) => ({ ranks, bytes: 2 ** log, microseconds: 10 + 2 ** log / 1e4 })),
);

// Threads run what is built; these run in this one.
function here(given: DeadlockOptions): never {
  try {
    return (typeof given === "object" && given !== null ? { ...given, workers: 0 } : given) as never;
  } catch {
    return given as never; // which is refused before a thread begins
  }
}
const exported = {
  ...simulator,
  simulateDeadlocks: (of: simulator.DeadlockConfig, given: DeadlockOptions) => simulator.simulateDeadlocks(of, here(given)),
  simulateFigures: (given: DeadlockOptions) => simulator.simulateFigures(here(given)),
  simulateTable: (given: simulator.TableOptions) => simulator.simulateTable(here(given)),
};

testHostileValues(
  exported,
  {
    oneGroupRatio: () => [4, 10, 0.01],
    confidenceInterval: () => [1, 10],
    parseDeadlockConfig: () => [config, "given"],
    explainDeadlock: () => [config, 1, round],
    explanationText: () => [explanation],
    deadlockSvg: () => [explanation],
    deadlockTimeline: () => [config, 1, round],
    simulateDeadlocks: () => [config, options],
    simulateFigures: () => [{ rounds: 1, seed: 1, signal: AbortSignal.abort() }],
    simulateTable: () => [{ rounds: 1, seed: 1, draws: 1, rows: [], onRow: () => {} }],
    simulatePrograms: () => [
      [{ program, ranks: [0, 1], segmentBytes: 4096 }],
      { cluster, costs: simulator.h200BlockCosts, tileBytes: 1024 },
    ],
    "simulatePrograms of one": () => [[{ program, ranks: [0, 1], segmentBytes: 4096 }], { cluster }],
    calibrate: () => [cases],
    simulateLateRank: () => [{ lateNs: 1e6, pollNs: 1100, fetchBatch: 64, seed: 1 }],
    simulateOrderings: () => [1, { ...simulator.orderingWorkload, collectives: 4 }],
    simulatePriority: () => [{ ranks: 2, layerBytes: [1000, 2000], forwardNsPerLayer: 1000 }],
    simulateScale: () => [[2, 1, 1], { seed: 1, disorder: 0.1, onProgress: () => {} }],
    simulateValley: () => [[100], 500],
    parseScheduleWorkload: () => [workload, "given"],
    scenarioOf: () => [workload, 1],
    simulateSchedule: () => [scenario, { everyPoll: false, onQueueLength: () => {} }],
    simulateLongSchedule: () => [scenario, { everyPoll: false, onQueueLength: () => {}, onProgress: () => {} }],
  },
  {
    throwing: true,
    depth: 3,
    shallow: {
      simulateSchedule: "latencies of seconds take minutes to simulate",
      simulateLongSchedule: "the same",
      calibrate: "the same",
    },
  },
);

test("how many threads there are to be is a number", async () => {
  for (const workers of [null, -1, 0.5, Number.NaN, 2 ** 53, "x", 1n]) {
    const wrong = expect.objectContaining({ code: "INVALID_ARGUMENT", facts: expect.objectContaining({ argument: "workers" }) });
    await expect(simulator.simulateDeadlocks(config, { ...options, workers: workers as number })).rejects.toThrow(wrong);
  }
});

test("where a configuration comes from is a text, also where nothing of it is right", () => {
  for (const parse of [simulator.parseDeadlockConfig, simulator.parseScheduleWorkload])
    expect(() => parse(0, Symbol("s") as never)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
});

test("a scenario that no memory holds is refused, not begun", () => {
  const [collective] = workload.collectives;
  const huge = { ...workload, ranks: 100_000, collectives: Array.from({ length: 100_000 }, () => collective) } as ScheduleWorkload;
  expect(() => simulator.scenarioOf(huge, 1)).toThrow("at most 5000000 are allowed");
  expect(() => simulator.scenarioOf({ ...workload, ranks: 2 ** 40 }, 1)).toThrow(simulator.SimulationConfigError);
});
