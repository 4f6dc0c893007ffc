import { expect, it } from "vitest";
import { trainSynthetic } from "../src/index.js";

const tensors = [1, 70, 3000, 4].map((elements, i) => ({ name: `tensor ${i}`, elements }));

it("one step has a rate too", async () => {
  const { stepMs, stepsPerSecond } = await trainSynthetic({ tensors, ranks: 2, steps: 1, schedule: "preemptive" });
  expect(stepMs).toEqual([]);
  expect(Number.isFinite(stepsPerSecond) && stepsPerSecond > 0).toBe(true);
});

it.each(["preemptive", "static", "coordinator", "learned"] as const)("synthetic gradients are averaged: %s", async (schedule) => {
  const steps: number[] = [];
  const result = await trainSynthetic({ tensors, ranks: 3, steps: 5, schedule, onStep: (step) => steps.push(step) });
  expect(result.wrong).toBe(0);
  expect(result.stepMs).toHaveLength(4);
  expect(steps).toEqual([1, 2, 3, 4, 5]);
});
