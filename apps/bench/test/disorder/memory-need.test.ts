import { expect, it } from "vitest";
import { checkMemory, MemoryError, neededBytes } from "../../src/disorder/memory-need.js";

const workload = {
  name: "two",
  tensors: [
    { name: "a", elements: 1000 },
    { name: "b", elements: 24 },
  ],
};

it("counts an output of each tensor and one input pattern a rank, and one pattern of sums", () => {
  expect(neededBytes(workload, 3)).toBe(4 * (3 * 1024 + 4 * 1000));
});

it("refuses what doesn't fit, naming both sizes", () => {
  expect(() => checkMemory(workload, 3, neededBytes(workload, 3))).not.toThrow();
  const refused = (): void => checkMemory(workload, 3, 20_000);
  expect(refused).toThrow(MemoryError);
  expect(refused).toThrow("The buffers take 27.6 KiB, and 19.5 KiB are free.");
});
