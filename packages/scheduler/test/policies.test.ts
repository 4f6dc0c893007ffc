import { InvalidArgumentError } from "@dfccl/primitives";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodePolicy,
  encodePolicy,
  type PolicyName,
  type PolicyOverrides,
  policyByName,
  policyNames,
  policyOffsets,
  simulationPolicy,
} from "../src/index.js";
import { anyPolicy, seed } from "./arbitraries.js";

describe("a policy's bytes", () => {
  it("hold the whole policy", () => {
    fc.assert(
      fc.property(anyPolicy, (policy) => {
        expect(decodePolicy(encodePolicy(policy))).toEqual(policy);
      }),
      { seed },
    );
  });

  it.each([
    ["too few", (bytes: Uint8Array) => bytes.subarray(1)],
    ["another version", (bytes: Uint8Array) => bytes.with(policyOffsets.version, 9)],
    ["an unknown kind", (bytes: Uint8Array) => bytes.with(policyOffsets["stickiness.kind"], 3)],
    ["a minimum of zero", (bytes: Uint8Array) => bytes.with(policyOffsets["stickiness.minimumThreshold"], 0)],
  ])("are refused when they are %s", (_, spoil) => {
    expect(() => decodePolicy(spoil(encodePolicy(simulationPolicy("default"))))).toThrow(InvalidArgumentError);
  });
});

describe("a policy by name", () => {
  it.each(policyNames)("%s is one that the engine accepts", (name) => {
    expect(() => encodePolicy(simulationPolicy(name))).not.toThrow();
  });

  it("takes single fields from the caller", () => {
    const policy = simulationPolicy("in-order", { streams: 3, quit: { idleVisits: 50_000 } });
    expect([policy.streams, policy.quit.kind, policy.quit.idleVisits]).toEqual([3, "whenEmpty", 50_000]);
  });

  const refused: [field: string, name: PolicyName, overrides: PolicyOverrides][] = [
    ["stickiness.maximumThreshold", "default", { stickiness: { maximumThreshold: 20_000 } }],
    ["stickiness.initialThreshold", "default", { stickiness: { initialThreshold: 7 } }],
    ["stickiness.minimumThreshold", "default", { stickiness: { minimumThreshold: 0 } }],
    ["stickiness.raiseFactor", "default", { stickiness: { raiseFactor: 1.001 } }],
    ["stickiness.raiseFactor", "default", { stickiness: { raiseFactor: 0.5 } }],
    ["stickiness.perPositionDecrement", "default", { stickiness: { perPositionDecrement: 2 ** 32 } }],
    ["order.fetchBatch", "default", { order: { fetchBatch: 0 } }],
    ["order.fetchesPerLap", "default", { order: { fetchesPerLap: 0 } }],
    ["order.kind", "in-order", { order: { kind: "lifo" } }],
    ["quit.idleTicks", "default", { quit: { idleTicks: Number.NaN } }],
    ["quit.residencyTicks", "default", { quit: { residencyTicks: 1.5 } }],
    ["streams", "default", { streams: 2 }],
    ["streams", "in-order", { streams: 0 }],
    ["streams", "in-order", { streams: 1.5 }],
  ];
  it.each(refused)("names %s where that is wrong (%s %j)", (field, name, overrides) => {
    const attempt = () => simulationPolicy(name, overrides);
    expect(attempt).toThrow(InvalidArgumentError);
    expect(attempt).toThrow(field);
  });

  it.each(policyNames)("%s has the numbers that it is given, whatever their kinds", (name) => {
    const numbers = simulationPolicy("in-order", {
      order: { fetchBatch: 3 },
      stickiness: { maximumThreshold: 999 },
      quit: { idleVisits: 1234 },
    });
    const { order, stickiness, quit } = policyByName(name, numbers);
    const kinds = simulationPolicy(name);
    expect([order.kind, stickiness.kind]).toEqual([kinds.order.kind, kinds.stickiness.kind]);
    expect([order.fetchBatch, stickiness.maximumThreshold, quit.idleVisits]).toEqual([3, 999, 1234]);
  });

  it("is refused without numbers", () => {
    expect(() => policyByName("fixed", undefined as never)).toThrow("numbers is undefined");
    expect(() => policyByName("fixed", { order: {}, quit: {} } as never)).toThrow("numbers.stickiness is undefined");
  });

  it("is refused where there is none of that name", () => {
    expect(() => simulationPolicy("fair" as PolicyName)).toThrow('name is "fair"');
  });
});
