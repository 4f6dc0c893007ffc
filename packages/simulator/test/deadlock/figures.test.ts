import { describe, expect, it } from "vitest";
import { explainDeadlock } from "../../src/deadlock/explain.js";
import { simulateFigures } from "../../src/deadlock/figures.js";
import { RoundSimulator } from "../../src/deadlock/simulate-round.js";
import { deadlockTimeline } from "../../src/deadlock/timeline.js";
import { singleQueue, synchronization, threeD } from "./support.js";

describe("figures", () => {
  it("have a curve for each setting and order, points in ascending order, and the paper's points on their axes", async () => {
    const figures = await simulateFigures({ rounds: 4, seed: 1, workers: 0 });
    expect(figures.map(({ curves }) => curves.length)).toEqual([4, 4, 2, 2]);
    expect(figures.map(({ published }) => published.length)).toEqual([4, 4, 1, 2]);
    for (const { curves, published } of figures) {
      const xs = curves.flatMap(({ points }) => points.map(({ x }) => x));
      for (const { points } of curves) expect(points.map(({ x }) => x)).toEqual(points.map(({ x }) => x).toSorted((a, b) => a - b));
      for (const { x, ratio } of published) {
        expect(x).toBeGreaterThanOrEqual(Math.min(...xs));
        expect(x).toBeLessThanOrEqual(Math.max(...xs));
        expect(ratio).toBeGreaterThan(0);
      }
    }
  });

  it("end where they are interrupted", async () => {
    const controller = new AbortController();
    const onProgress = (share: number): void => {
      if (share > 0.3) controller.abort();
    };
    const figures = await simulateFigures({ rounds: 4, seed: 1, workers: 0, signal: controller.signal, onProgress });
    expect(figures.length).toBeLessThan(4);
  });
});

describe("a deadlock's timeline", () => {
  it.each([
    ["synchronization", synchronization(threeD(2, 3, 2, 20, 60), 0.05, 0.05)],
    ["single-queue", singleQueue(threeD(2, 3, 2, 20, 60), 0.002)],
  ] as const)("shows the circle: who executes for ever, and who invoked only (%s model)", (_, config) => {
    const simulator = new RoundSimulator(config, 1);
    const rounds = Array.from({ length: 600 }, (__, round) => round).filter((round) => simulator.simulate(round) !== undefined);
    expect(rounds.length).toBeGreaterThan(5);
    for (const round of rounds.slice(0, 20)) {
      const timeline = deadlockTimeline(config, 1, round);
      for (const { gpu, executes, invoked } of explainDeadlock(config, 1, round).cycle) {
        const lane = timeline.gpus.find((candidate) => candidate.gpu === gpu);
        const part = (name: typeof executes) =>
          lane?.parts.find(({ collective }) => collective.group === name.group && collective.index === name.index);
        expect(part(executes)).toMatchObject({ isOfCycle: true, executingAt: expect.any(Number) });
        expect(part(executes)?.successfulAt).toBeUndefined();
        expect(part(invoked)).toMatchObject({ isOfCycle: true, invokedAt: expect.any(Number) });
        expect(part(invoked)?.executingAt).toBeUndefined();
      }
      // In their order, and within the time that is shown.
      for (const { parts } of timeline.gpus) {
        for (const { invokedAt, executingAt = invokedAt, successfulAt = timeline.endAt } of parts) {
          expect(executingAt).toBeGreaterThanOrEqual(invokedAt);
          expect(successfulAt).toBeGreaterThanOrEqual(executingAt);
          expect(successfulAt).toBeLessThanOrEqual(timeline.endAt + 1);
        }
      }
    }
  });
});
