import { simulationPolicy } from "@dfccl/scheduler";
import { describe, expect, it } from "vitest";
import { gpuCosts, infiniband, simulateDeadlocks, simulateLongSchedule, simulatePrograms, simulateSchedule } from "../src/index.js";

const unknown = (option: string, nearest: string) =>
  expect.objectContaining({ code: "UNKNOWN_OPTION", facts: expect.objectContaining({ option, nearest }) });
const scenario = {
  topology: { linkBetween: () => infiniband } as never,
  costs: gpuCosts,
  policy: simulationPolicy("adaptive"),
  collectives: [],
  hosts: [],
};

describe("an option that isn't one is refused, and the nearest is named", () => {
  it("by every simulation", async () => {
    expect(() => simulateSchedule(scenario, { everypoll: true } as never)).toThrow(unknown("everypoll", "everyPoll"));
    await expect(simulateLongSchedule(scenario, { progress: 1 } as never)).rejects.toThrow(unknown("progress", "onProgress"));
    await expect(simulateDeadlocks({} as never, { round: 5, seed: 1 } as never)).rejects.toThrow(unknown("round", "rounds"));
    expect(() => simulatePrograms([], { clusters: {} } as never)).toThrow(unknown("clusters", "cluster"));
  });
});
