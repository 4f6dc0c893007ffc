import { describe, expect, it } from "vitest";
import { oneGroupRatio } from "../../src/deadlock/closed-form.js";
import { confidenceInterval } from "../../src/deadlock/interval.js";
import { PlainSimulator } from "../../src/deadlock/simulate-plainly.js";
import { countDeadlocks, free, singleQueue, synchronization, threeD } from "./support.js";

const eight = [[0, 1, 2, 3, 4, 5, 6, 7]];

it("one collective can't be out of order, however likely disorder is", () => {
  for (const probability of [0, 0.5, 1]) expect(oneGroupRatio(8, 1, probability)).toBe(0);
  expect(oneGroupRatio(8, 2, 1)).toBe(1);
});

describe("control", () => {
  it("without disorder nothing deadlocks, however often GPUs synchronize", () => {
    expect(countDeadlocks(synchronization(threeD(4, 4, 2, 8, 24), 0, 0.3), 300)).toBe(0);
    expect(countDeadlocks(singleQueue(threeD(4, 4, 2, 8, 24), 0), 300)).toBe(0);
    expect(countDeadlocks(synchronization(free([...eight, [0, 2], [1, 2, 5]], 20), 0, 0.3), 300)).toBe(0);
  });

  it("without synchronizations nothing deadlocks in the synchronization model, whatever the order", () => {
    expect(countDeadlocks(synchronization(free(eight, 40), 0.9, 0), 300)).toBe(0);
    expect(countDeadlocks(synchronization(free(eight, 40), 0.9, 0.1), 300)).toBeGreaterThan(250);
  });

  it("without disorder the shortcut reports deadlocks nevertheless", () => {
    const plain = new PlainSimulator(synchronization(threeD(4, 4, 1, 10, 30), 0, 0.2), 1);
    const rounds = Array.from({ length: 200 }, (_, round) => round);
    expect(rounds.filter((round) => plain.deadlocks(round, "cycle"))).toEqual([]);
    expect(rounds.filter((round) => plain.deadlocks(round, "intersection")).length).toBeGreaterThan(20);
  });

  it.each([
    [8, 50, 1e-3, 0.3244],
    [8, 161, 1e-5, 0.0127],
    [2, 1000, 1e-4, 0.1811],
    [32, 20, 1e-4, 0.059],
  ])("one group of %i GPUs and %i collectives at p = %f deadlocks as the closed form says: %f", (gpus, collectives, p, expected) => {
    const rounds = 20_000;
    const group = Array.from({ length: gpus }, (_, gpu) => gpu);
    const exact = oneGroupRatio(gpus, collectives, p);
    expect(exact).toBeCloseTo(expected, 3);
    // Twice the width of the 95% interval: four of these would miss that by chance too often.
    const [low, high] = confidenceInterval(countDeadlocks(singleQueue(free([group], collectives), p), rounds), rounds);
    expect(Math.abs(exact - (low + high) / 2)).toBeLessThan(high - low);
  });

  it("a GPU alone in its groups never deadlocks", () => {
    expect(countDeadlocks(synchronization(free([[0], [0]], 30), 0.5, 0.5), 100)).toBe(0);
  });
});

describe("confidenceInterval", () => {
  it("is Wilson's, and holds at the ends", () => {
    const [low, high] = confidenceInterval(10, 100);
    expect(low).toBeCloseTo(0.0552, 4);
    expect(high).toBeCloseTo(0.1744, 4);
    expect(confidenceInterval(0, 32_000)[0]).toBe(0);
    expect(confidenceInterval(0, 32_000)[1]).toBeCloseTo(1.2e-4, 5);
    expect(confidenceInterval(5, 5)[1]).toBe(1);
    expect(confidenceInterval(0, 0)).toEqual([0, 1]);
  });
});
