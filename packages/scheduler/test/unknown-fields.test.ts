import { describe, expect, it } from "vitest";
import { DaemonModel, encodePolicy, simulationPolicy } from "../src/index.js";
import { tune } from "../src/tuner/index.js";

const unknown = (option: string, nearest: string) =>
  expect.objectContaining({ code: "UNKNOWN_OPTION", facts: expect.objectContaining({ option, nearest }) });

describe("a field that no policy has is refused, and the nearest is named", () => {
  it.each([
    [{ sticky: {} }, "overrides.sticky", "stickiness"],
    [{ stickiness: { threshold: 5 } }, "overrides.stickiness.threshold", "initialThreshold"],
    [{ quit: { idleVisit: 5 } }, "overrides.quit.idleVisit", "idleVisits"],
    [{ order: { fetchbatch: 5 } }, "overrides.order.fetchbatch", "fetchBatch"],
  ])("among overrides: %j", (overrides, option, nearest) => {
    expect(() => simulationPolicy("adaptive", overrides as never)).toThrow(unknown(option, nearest));
  });

  it("in plain data", () => {
    const policy = simulationPolicy("fixed");
    const wrong = { ...policy, stickiness: { ...policy.stickiness, initial: 5 } };
    expect(() => encodePolicy(wrong)).toThrow(unknown("stickiness.initial", "initialThreshold"));
    expect(() => encodePolicy({ ...policy, stream: 1 } as never)).toThrow(unknown("policy.stream", "streams"));
  });

  it("and a missing part is missed", () => {
    expect(() => encodePolicy({} as never)).toThrow("order is undefined. Give an object as policyByName() has it.");
  });

  it("by a model of a daemon", () => {
    const work = { next: () => undefined, poll: () => "stuck" as const };
    expect(() => new DaemonModel({ ...simulationPolicy("fixed"), stream: 1 } as never, work)).toThrow(unknown("policy.stream", "streams"));
    expect(() => new DaemonModel(undefined as never, work)).toThrow("policy is undefined. Give what policyByName() returns");
  });

  it("by the tuner", async () => {
    await expect(tune({ round: 5 } as never)).rejects.toThrow(unknown("round", "rounds"));
  });
});
