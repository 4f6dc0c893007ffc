import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { initialThreshold, onPreempt, onSuccess, simulationPolicy } from "../src/index.js";
import { anyPolicy, seed } from "./arbitraries.js";

const position = fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 0xffff_ffff }));

describe("thresholds", () => {
  it("stay between minimum and maximum, and success never lowers them", () => {
    fc.assert(
      fc.property(anyPolicy, position, fc.nat({ max: 80 }), ({ stickiness }, at, successes) => {
        let threshold = initialThreshold(stickiness, at);
        for (let i = 0; i <= successes; i += 1) {
          expect(threshold).toBeGreaterThanOrEqual(stickiness.minimumThreshold);
          expect(threshold).toBeLessThanOrEqual(stickiness.maximumThreshold);
          expect(Number.isInteger(threshold)).toBe(true);
          const raised = onSuccess(stickiness, threshold);
          expect(raised).toBeGreaterThanOrEqual(threshold);
          threshold = raised;
        }
      }),
      { seed },
    );
  });

  it("are largest at the front of the queue", () => {
    fc.assert(
      fc.property(anyPolicy, position, position, ({ stickiness }, a, b) => {
        expect(initialThreshold(stickiness, Math.min(a, b))).toBeGreaterThanOrEqual(initialThreshold(stickiness, Math.max(a, b)));
      }),
      { seed },
    );
  });

  it("reach the maximum and stay there, where 32 bits that wrap would fall to almost nothing", () => {
    const { stickiness } = simulationPolicy("adaptive", {
      stickiness: { initialThreshold: 100_000, maximumThreshold: 0xffff_ffff, raiseFactor: 20 },
      quit: { idleVisits: 0 },
    });
    const thresholds = [initialThreshold(stickiness, 0)];
    const wrapped = [100_000];
    for (let i = 0; i < 6; i += 1) {
      thresholds.push(onSuccess(stickiness, thresholds.at(-1) ?? 0));
      wrapped.push(((wrapped.at(-1) ?? 0) * 20) % 2 ** 32);
    }
    expect(thresholds).toEqual([1e5, 2e6, 4e7, 8e8, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff]);
    expect(wrapped[4]).not.toBe(1e5 * 20 ** 4); // the control: wrong from the fourth success on
    expect(Math.min(...wrapped.slice(5))).toBeLessThan(wrapped[4] ?? 0);
  });

  it("differ by kind as the policies say", () => {
    const at = (name: "fixed" | "decreasing" | "adaptive") => {
      const { stickiness } = simulationPolicy(name);
      return [initialThreshold(stickiness, 0), initialThreshold(stickiness, 3), onSuccess(stickiness, 64), onPreempt(stickiness, 3)];
    };
    expect(at("fixed")).toEqual([64, 64, 64, 64]);
    expect(at("decreasing")).toEqual([64, 40, 64, 40]);
    expect(at("adaptive")).toEqual([64, 40, 128, 40]);
  });
});
