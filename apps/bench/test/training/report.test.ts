import { expect, it } from "vitest";
import { stepNote } from "../../src/training/report.js";

it("tells of a step the loss, the rate and what is left, and at the end that nothing is", () => {
  const step = { steps: 10, loss: 2.5, samplesPerSecond: 100, globalBatch: 20 };
  expect(stepNote({ ...step, step: 5 })).toBe("loss 2.5000 · 100/s · 1.00 s left");
  expect(stepNote({ ...step, step: 10 })).toBe("loss 2.5000 · 100/s");
  expect(stepNote({ ...step, step: 1, samplesPerSecond: 0 })).toBe("loss 2.5000");
});
