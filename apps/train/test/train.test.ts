import { describe, expect, it } from "vitest";
import { planTraining, train } from "../src/index.js";
import { cacheFolder } from "./support/cache.js";

const long = process.env.DFCCL_TEST_TIER === "long";
const steps = long ? 100 : 8;
// Adam divides by small numbers, which enlarges rounding.
const small = { model: "mnist", optimizer: "momentum", learningRate: 0.05, steps, loaders: 0, cacheFolder } as const;

describe("digits, data parallel", () => {
  it(`give the same loss curve on 2 and 4 ranks as on one with the same global batch, by every schedule: ${steps} steps`, async () => {
    const alone = await train({ ...small, ranks: 1 });
    expect(alone.losses).toHaveLength(steps);
    for (const [ranks, schedule] of [
      [2, "preemptive"],
      [2, "static"],
      [2, "coordinator"],
      [4, "learned"],
    ] as const) {
      // Threads that read ahead change nothing either.
      const { losses } = await train({ ...small, ranks, schedule, loaders: schedule === "static" ? 2 : 0 });
      const differences = losses.map((loss, step) => Math.abs(loss - (alone.losses[step] ?? 0)) / loss);
      expect(Math.max(...differences)).toBeLessThan(1e-5);
    }
  });
});

if (long) {
  it("digits to the end: at least 97 % of the test part are right", async () => {
    const { losses, accuracy, samplesPerSecond, steps: all } = await train({ model: "mnist", ranks: 2, cacheFolder });
    process.stdout.write(`${JSON.stringify({ steps: all, accuracy, lastLoss: losses.at(-1), samplesPerSecond })}\n`);
    expect(accuracy).toBeGreaterThanOrEqual(0.97);
  });
}

describe("a run that can't be", () => {
  it("names a model that isn't there", () => {
    expect(() => planTraining({ model: "resnet", ranks: 2 })).toThrow(expect.objectContaining({ code: "UNKNOWN_MODEL" }));
  });

  it("names a batch that doesn't divide", () => {
    expect(() => planTraining({ model: "mnist", ranks: 3 })).toThrow(
      expect.objectContaining({ code: "PLAN", facts: { globalBatch: 32, dp: 3, microBatches: 1 } }),
    );
  });
});
