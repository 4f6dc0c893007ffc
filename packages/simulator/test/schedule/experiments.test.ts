import { describe, expect, it } from "vitest";
import { calibrate } from "../../src/schedule/calibrate.js";
import { simulateLateRank } from "../../src/schedule/experiments/late-rank.js";
import { orderingWorkload, simulateOrderings } from "../../src/schedule/experiments/orderings.js";
import { simulatePriority } from "../../src/schedule/experiments/priority.js";
import { type Disorder, type ScaleSizes, simulateScale } from "../../src/schedule/experiments/scale.js";
import { simulateValley } from "../../src/schedule/experiments/valley.js";

describe("with one rank late (DFCCL, Fig. 11)", () => {
  const outcome = (setting: Parameters<typeof simulateLateRank>[0]) =>
    simulateLateRank(setting).map(({ samplesPerSecond, result }) => {
      expect(result.finished).toBe(true);
      return { samplesPerSecond, longestQueue: Math.max(...(result.ranks[0]?.queueLengths ?? [])), preemptions: result.preemptions };
    });

  it("fixed thresholds cost four fifths of the throughput, as in the paper; adaptive ones next to nothing", () => {
    for (const seed of [1, 2, 3]) {
      const [fixed, adaptive] = outcome({ seed });
      expect(fixed?.samplesPerSecond).toBeLessThan(125);
      expect(fixed?.preemptions).toBeGreaterThan(500);
      expect(adaptive?.samplesPerSecond).toBeGreaterThan(475);
      expect(adaptive?.preemptions).toBe(0);
    }
    // The control: nobody is late.
    for (const { samplesPerSecond } of outcome({ lateNs: 0 })) expect(samplesPerSecond).toBe(500);
  });

  it("they do so because daemons take in bursts, and because polls take as long as they do on the paper's servers", () => {
    for (const setting of [{ fetchBatch: 1 }, { pollNs: 20 }]) {
      const [fixed] = outcome(setting);
      expect(fixed?.samplesPerSecond).toBeGreaterThan(400);
      expect(fixed?.longestQueue).toBeGreaterThan(1);
    }
  });
});

describe("time over the spin threshold (DFCCL, expression 2)", () => {
  it("is a valley where a context switch is dear, and has no left side where it is cheap", () => {
    const [low = 0, middle = 0, high = 0] = simulateValley([1, 1024, 16_384], 30_000).map(({ endNs }) => endNs);
    expect(middle).toBeLessThan(0.9 * low);
    expect(middle).toBeLessThan(0.5 * high);
    const [cheapLow = 0, cheapMiddle = 0] = simulateValley([1, 1024], 500).map(({ endNs }) => endNs);
    expect(cheapLow).toBeLessThan(cheapMiddle);
  });

  it("takes fewer preemptions the more patient it is", () => {
    const [one = 0, many = 0] = simulateValley([1, 1024], 10_000).map(({ preemptions }) => preemptions);
    expect(many).toBeLessThan(0.7 * one);
  });
});

describe("priorities", () => {
  it("overlap more of the communication with the passes around it", () => {
    const [fifo, priority] = simulatePriority();
    expect(priority?.exposedNs).toBeLessThan(0.8 * (fifo?.exposedNs ?? 0));
    expect(priority?.exposedNs).toBeGreaterThan(0);
  });
});

describe("ways of ordering", () => {
  const workload = { ...orderingWorkload, collectives: 60 };
  const outcomes = (ranksPerIsland: number) => simulateOrderings(1, { ...workload, ranksPerIsland });

  it("deadlock without any, and complete with all others on one machine, with synchronizations too", () => {
    for (const { ordering, finished } of outcomes(8)) expect({ ordering, finished }).toEqual({ ordering, finished: ordering !== "none" });
  });

  it("deadlock between machines where only ranks of one machine agree", () => {
    for (const { ordering, finished } of outcomes(4)) {
      expect({ ordering, finished }).toEqual({ ordering, finished: ordering !== "none" && ordering !== "BytePS: root of a node" });
    }
  });

  it("take messages if they coordinate, and none if the order is fixed or preemption makes it unneeded", () => {
    const silent = outcomes(8).filter(({ messages }) => messages === 0);
    expect(new Set(silent.map(({ ordering }) => ordering))).toEqual(
      new Set(["none", "OneFlow: static order", "Megatron: manual order", "preemption"]),
    );
  });

  it("lose more time to synchronizations than preemption does", () => {
    const results = outcomes(8).filter(({ finished }) => finished);
    const cost = (ordering: string): number => {
      const [without, withThem] = [false, true].map(
        (has) => results.find((row) => row.ordering === ordering && row.hasSynchronizations === has)?.endNs ?? 0,
      );
      return (withThem ?? 0) - (without ?? 0);
    };
    expect(cost("preemption")).toBeLessThan(cost("Megatron: manual order"));
  });
});

describe("scale", () => {
  const scale = async (sizes: ScaleSizes, disorder?: Disorder) => {
    const result = await simulateScale(sizes, { seed: 1, ...(disorder === undefined ? {} : { disorder }) });
    if (result === undefined) throw new RangeError("interrupted");
    return result;
  };

  it("takes events in proportion to GPUs; preemption costs nothing in one order, and some in disorder", async () => {
    const [small, large] = [await scale([8, 10, 1]), await scale([8, 10, 4])];
    expect(large.gpus).toBe(4 * small.gpus);
    expect(large.events / small.events).toBeGreaterThan(3.6);
    expect(large.events / small.events).toBeLessThan(4.4);
    expect(large.endNs).toBe(large.inOrderNs);
    expect(large.disorderedNs).toBeGreaterThan(1.1 * large.endNs);
    expect((await scale([8, 10, 1], 0)).disorderedNs).toBe(small.endNs);
  });

  it("ends between two events when it is interrupted", async () => {
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    expect(await simulateScale([8, 10, 10], { seed: 1, signal: controller.signal, onProgress })).toBeUndefined();
  });

  it("ends before the first event where it was interrupted before, and between two simulations", async () => {
    expect(await simulateScale([8, 1, 1], { seed: 1, signal: AbortSignal.abort() })).toBeUndefined();
    const controller = new AbortController();
    setImmediate(() => setImmediate(() => controller.abort()));
    expect(await simulateScale([8, 1, 1], { seed: 1, signal: controller.signal })).toBeUndefined();
  });
});

describe("calibrate", () => {
  const sizes = [8, 4096, 65_536, 1e6, 4e6, 16e6, 64e6];

  it("predicts times that follow the α–β model, from half of them", () => {
    const ringUs = (ranks: number, bytes: number): number => (2 * (ranks - 1) * (800 + bytes / ranks / 20)) / 1000;
    const { predictions, medianError } = calibrate(
      [2, 8].flatMap((ranks) => sizes.map((bytes) => ({ ranks, bytes, microseconds: ringUs(ranks, bytes) }))),
    );
    expect(predictions).toHaveLength(6);
    expect(medianError).toBeLessThan(0.15);
  });

  it("says how wrong it is where times don't", () => {
    const { medianError } = calibrate(
      [2, 8].flatMap((ranks) => sizes.map((bytes, i) => ({ ranks, bytes, microseconds: i % 2 ? 1000 : 1 }))),
    );
    expect(medianError).toBeGreaterThan(0.5);
  });

  it("refuses too few cases", () => {
    expect(() => calibrate([{ ranks: 2, bytes: 8, microseconds: 1 }])).toThrow(/at least six cases/);
  });
});
