import { describe, expect, it } from "vitest";
import {
  ActorsStuckError,
  gpipeCounts,
  leastCounts,
  oneFlowCounts,
  type Pass,
  type PipelineCounts,
  simulatePipeline,
} from "../../src/index.js";

async function orders(
  stages: number,
  microBatches: number,
  counts: PipelineCounts,
  times: { forwardMs: number; backwardMs: number },
): Promise<string[]> {
  return (await simulatePipeline({ stages, microBatches, counts, ...times })).map(orderOf);
}

/** "FFBFBB" and so on. Each pass must take the micro-batches one after the other. */
function orderOf(passes: readonly Pass[]): string {
  for (const pass of ["forward", "backward"]) {
    const numbers = passes.filter((one) => one.pass === pass).map(({ microBatch }) => microBatch);
    expect(numbers).toEqual(numbers.map((_number, index) => index));
  }
  return passes.map(({ pass }) => (pass === "forward" ? "F" : "B")).join("");
}

/** Most forward results that wait for their backward pass. */
function outstanding(order: string): number {
  let now = 0;
  return Math.max(...[...order].map((pass) => (now += pass === "F" ? 1 : -1)));
}

const settings = [2, 3, 4, 8].flatMap((stages) => [8, 16, 32].map((microBatches) => ({ stages, microBatches })));
const times = [
  { forwardMs: 1, backwardMs: 1 },
  { forwardMs: 1, backwardMs: 2 },
  { forwardMs: 3, backwardMs: 4 },
];

describe("the order of a pipeline comes from its register counts", () => {
  it.each(settings)(
    "S − s of them give one forward, one backward: $stages stages, $microBatches micro-batches",
    async ({ stages, microBatches }) => {
      for (const time of times) {
        const found = await orders(stages, microBatches, leastCounts(stages), time);
        found.forEach((order, stage) => {
          const warmUp = Math.min(stages - 1 - stage, microBatches);
          const steady = microBatches - warmUp;
          expect(order).toBe("F".repeat(warmUp) + "FB".repeat(steady) + "B".repeat(warmUp));
        });
      }
    },
  );

  it.each(settings)(
    "OneFlow's give one forward, one backward once warm: $stages stages, $microBatches micro-batches",
    async ({ stages, microBatches }) => {
      for (const time of times) {
        const found = await orders(stages, microBatches, oneFlowCounts(stages), time);
        found.forEach((order, stage) => {
          expect(order).toMatch(/^F+(BF)*B+$/);
          // However many micro-batches there are.
          expect(outstanding(order)).toBeLessThanOrEqual(stage === stages - 1 ? 1 : 2 * stages + 1);
        });
      }
    },
  );

  it.each(settings)(
    "all packed, and room for it, gives all forward, then all backward: $stages stages, $microBatches micro-batches",
    async (setting) => {
      const { stages, microBatches } = setting;
      for (const time of times) {
        const found = await orders(stages, microBatches, gpipeCounts(microBatches), time);
        expect(new Set(found)).toEqual(new Set(["F".repeat(microBatches) + "B".repeat(microBatches)]));
      }
    },
  );

  it("room for all without packing lets the first stage run ahead without bound", async () => {
    const most = async (microBatches: number, counts: PipelineCounts): Promise<number> =>
      outstanding((await orders(4, microBatches, counts, { forwardMs: 1, backwardMs: 2 }))[0] ?? "");
    const room: PipelineCounts = { forward: () => 64, buffer: () => 64, arrival: 64 };
    expect(await most(64, room)).toBeGreaterThan(1.5 * (await most(32, room)));
    expect(await most(64, leastCounts(4))).toBe(await most(32, leastCounts(4)));
  });

  it("control: fewer registers than are packed get stuck", async () => {
    const counts = { ...gpipeCounts(8), buffer: () => 6 };
    await expect(simulatePipeline({ stages: 2, microBatches: 8, counts })).rejects.toBeInstanceOf(ActorsStuckError);
  });

  it("takes no longer with S − s registers than with room for all, and less memory", async () => {
    const end = async (counts: PipelineCounts): Promise<number> =>
      Math.max(...(await simulatePipeline({ stages: 4, microBatches: 16, counts })).flat().map(({ endedAt }) => endedAt));
    expect(await end(leastCounts(4))).toBeLessThanOrEqual(await end(gpipeCounts(16)));
  });

  it("makes no more registers than there are micro-batches", async () => {
    const counts = { forward: () => 2 ** 40, buffer: () => 2 ** 40, arrival: 2 ** 40 };
    const passes = await simulatePipeline({ stages: 2, microBatches: 3, counts });
    expect(passes.map((stage) => stage.length)).toEqual([6, 6]);
  });

  it("refuses a pipeline without stages, one that is too large, and a count of 0", async () => {
    await expect(simulatePipeline({ stages: 0, microBatches: 1, counts: gpipeCounts(1) })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    const tooMany = { stages: 2 ** 11, microBatches: 2 ** 11 + 1, counts: gpipeCounts(1) };
    await expect(simulatePipeline(tooMany)).rejects.toMatchObject({ code: "INVALID_ARGUMENT", facts: { argument: "microBatches" } });
    const counts = { ...oneFlowCounts(2), arrival: 0 };
    await expect(simulatePipeline({ stages: 2, microBatches: 4, counts })).rejects.toMatchObject({ code: "REGISTER_COUNT" });
  });
});
