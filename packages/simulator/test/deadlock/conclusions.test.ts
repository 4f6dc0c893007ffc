import { describe, expect, it } from "vitest";
import { drawGroups } from "../../src/deadlock/draw-groups.js";
import { confidenceInterval } from "../../src/deadlock/interval.js";
import { RandomStream } from "../../src/deadlock/random-stream.js";
import { countDeadlocks, free, singleQueue, synchronization, threeD } from "./support.js";

const rounds = 4000;
const stage = threeD(4, 4, 1, 100, 300);

/** Each ratio's interval lies above the one before: a sign that isn't chance. */
function expectRising(counts: readonly number[]): void {
  const intervals = counts.map((count) => confidenceInterval(count, rounds));
  intervals.slice(1).forEach(([low], i) => {
    expect(low).toBeGreaterThan(intervals[i]?.[1] ?? 1);
  });
}

/** How the ratio grows: its logarithm over that of what was multiplied. */
function growth(few: number, many: number, factor: number): number {
  return Math.log(many / few) / Math.log(factor);
}

describe("the paper's conclusions (DFCCL, 2.4.3), with cycles for deadlocks", () => {
  it("1: a disorder probability of 1e-9 is enough for a deadlock ratio that is millions of times higher", () => {
    const config = singleQueue(threeD(8, 6, 64, 400, 1200), 1e-9);
    expect(countDeadlocks(config, rounds) / rounds).toBeGreaterThan(1e6 * 1e-9);
  });

  it("2: the ratio rises with the disorder probability", () => {
    expectRising([0.004, 0.012, 0.036].map((p) => countDeadlocks(synchronization(stage, p, 0.02), rounds)));
    expectRising([1e-5, 4e-5, 16e-5].map((p) => countDeadlocks(singleQueue(stage, p), rounds)));
  });

  it("2: and with the synchronization probability", () => {
    expectRising([0.01, 0.02, 0.04].map((s) => countDeadlocks(synchronization(stage, 0.02, s), rounds)));
  });

  it("3: it is more sensitive to synchronization than to disorder: it grows with p, and with the square of s", () => {
    const base = countDeadlocks(synchronization(stage, 0.006, 0.012), rounds);
    const byDisorder = growth(base, countDeadlocks(synchronization(stage, 0.018, 0.012), rounds), 3);
    const bySynchronization = growth(base, countDeadlocks(synchronization(stage, 0.006, 0.036), rounds), 3);
    expect(bySynchronization).toBeGreaterThan(byDisorder + 0.3);
    expect(byDisorder).toBeGreaterThan(0.6);
    expect(byDisorder).toBeLessThan(1.4);
    expect(bySynchronization).toBeGreaterThan(1.5);
    expect(bySynchronization).toBeLessThan(2.5);
  });

  it("4: it rises with the number of GPUs", () => {
    expectRising([1, 3, 9].map((pp) => countDeadlocks(synchronization(threeD(4, 4, pp, 100, 300), 0.01, 0.015), rounds)));
  });

  it("4: and with the number of collectives", () => {
    expectRising([1, 3, 9].map((k) => countDeadlocks(synchronization(threeD(4, 4, 1, 100 * k, 300 * k), 0.01, 0.012), rounds)));
  });

  it("5: it rises with the number of groups of a GPU, where groups that overlap share GPUs", () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 7];
    expectRising([1, 3, 9].map((degree) => countDeadlocks(synchronization(free(Array(degree).fill(all), 60), 0.01, 0.02), rounds)));
    const drawn = [1, 2, 4].map((degree) => {
      const plan = { gpus: 16, sizes: Array(2 * degree).fill(8), mostGroupsOfGpu: degree, collectives: [60, 60] as const };
      const groups = drawGroups(plan, new RandomStream().seed(3, degree, 0));
      return countDeadlocks(synchronization({ policy: "free", gpus: 16, groups: [...groups] }, 0.02, 0.05), rounds);
    });
    expectRising(drawn.slice(1));
  });

  it("5: but not where two groups meet in one GPU only and take turns, because neighbours in a list are of different groups then", () => {
    const apart = countDeadlocks(
      synchronization(
        free(
          [
            [0, 1, 2, 3],
            [4, 5, 6, 7],
            [8, 9, 10, 11],
            [12, 13, 14, 15],
          ],
          200,
        ),
        0.02,
        0.02,
      ),
      rounds,
    );
    const crossed = countDeadlocks(synchronization(threeD(4, 4, 1, 200, 200), 0.02, 0.02), rounds);
    expectRising([crossed, apart]);
  });
});
