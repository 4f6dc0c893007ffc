import { simulationPolicy } from "@dfccl/scheduler";
import { expect, it } from "vitest";
import { gpuCosts, type ScheduleScenario } from "../../src/schedule/scenario.js";
import { simulateLongSchedule, simulateSchedule } from "../../src/schedule/simulate-schedule.js";
import { infiniband, islands } from "../../src/schedule/topology.js";

const fine: ScheduleScenario = {
  topology: { ranksPerIsland: 2, island: islands.nvlink, network: infiniband },
  costs: gpuCosts,
  policy: simulationPolicy("adaptive"),
  collectives: [
    { bytes: 1024, ranks: [0, 1], priority: 0 },
    { bytes: 8, ranks: [1], priority: 0 },
  ],
  hosts: [
    [{ atNs: 0, collective: 0 }, { atNs: 5 }],
    [
      { atNs: 1000, collective: 1 },
      { atNs: 1000, collective: 0 },
    ],
  ],
};

const collectives = (change: object) => ({ collectives: [{ ...fine.collectives[0], ...change }] });
const hosts = (...actions: readonly unknown[]) => ({ hosts: [actions, fine.hosts[1]] });

it("takes a scenario that is written by hand", () => {
  expect(simulateSchedule(fine).finished).toBe(true);
});

// Without the check a poll that takes no time goes on for ever, and most of the others pass for deadlocks.
it.each<[string, object]>([
  ["topology", { topology: undefined }],
  ["topology.ranksPerIsland", { topology: { ...fine.topology, ranksPerIsland: 0 } }],
  ["topology.island", { topology: { ...fine.topology, island: null } }],
  ["topology.island.alphaNs", { topology: { ...fine.topology, island: { alphaNs: -1, gigabytesPerSecond: 1 } } }],
  ["topology.network.gigabytesPerSecond", { topology: { ...fine.topology, network: { alphaNs: 1, gigabytesPerSecond: 0 } } }],
  ["costs", { costs: undefined }],
  ["costs.pollNs", { costs: { ...gpuCosts, pollNs: 0 } }],
  ["costs.pollNs", { costs: { ...gpuCosts, pollNs: Number.NaN } }],
  ["costs.stepNs", { costs: { ...gpuCosts, stepNs: -500 } }],
  ["costs.switchNs", { costs: { ...gpuCosts, switchNs: Number.POSITIVE_INFINITY } }],
  ["costs.stepNs", { costs: { ...gpuCosts, stepNs: Number.MAX_VALUE } }],
  ["topology.network.alphaNs", { topology: { ...fine.topology, network: { alphaNs: 1e13, gigabytesPerSecond: 1 } } }],
  ["hosts[0][0].atNs", hosts({ atNs: Number.MAX_VALUE, collective: 0 })],
  ["costs.restartNs", { costs: { ...gpuCosts, restartNs: undefined } }],
  ["policy", { policy: undefined }],
  ["quit.idleVisits", { policy: { ...fine.policy, quit: { ...fine.policy.quit, idleVisits: -1 } } }],
  ["collectives", { collectives: [] }],
  ["collectives[0]", { collectives: [null] }],
  ["collectives[0].bytes", collectives({ bytes: Number.NaN })],
  ["collectives[0].priority", collectives({ priority: undefined })],
  ["collectives[0].ranks", collectives({ ranks: [] })],
  ["collectives[0].ranks", collectives({ ranks: [0, 0] })],
  ["a rank of collectives[0]", collectives({ ranks: [0, 7] })],
  ["hosts", { hosts: undefined }],
  ["hosts[0]", { hosts: [{}, []] }],
  ["hosts[0][0]", hosts(null)],
  ["hosts[0][0].atNs", hosts({ atNs: Number.NaN, collective: 0 })],
  ["hosts[0][0].collective", hosts({ atNs: 0, collective: 2 })],
  ["hosts[0][0].collective", hosts({ atNs: 0, collective: 1 })],
  ["hosts[0][1].collective", hosts({ atNs: 0, collective: 0 }, { atNs: 0, collective: 0 })],
])("refuses a wrong %s by its name", async (argument, change) => {
  const wrong = { ...fine, ...change } as ScheduleScenario;
  const refusal = expect.objectContaining({ code: "INVALID_ARGUMENT", facts: expect.objectContaining({ argument }) });
  expect(() => simulateSchedule(wrong)).toThrow(refusal);
  await expect(simulateLongSchedule(wrong, {})).rejects.toThrow(refusal);
});

it("refuses what is no scenario", () => {
  for (const nothing of [undefined, null, 5]) {
    expect(() => simulateSchedule(nothing as never)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  }
});
