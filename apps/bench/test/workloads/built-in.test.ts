import { describe, expect, it } from "vitest";
import { resnet50 } from "../../src/workloads/resnet50.js";
import { gpt2, vitB16 } from "../../src/workloads/transformers.js";
import { elementsOf, scaled } from "../../src/workloads/workload.js";

describe("built-in workloads", () => {
  it.each([
    { workload: resnet50(), tensors: 161, parameters: 25_557_032 },
    { workload: vitB16(), tensors: 152, parameters: 86_567_656 },
    { workload: gpt2(), tensors: 148, parameters: 124_439_808 },
    { workload: gpt2(1024, 24), tensors: 292, parameters: 354_823_168 },
    { workload: gpt2(1280, 36), tensors: 436, parameters: 774_030_080 },
    { workload: gpt2(1600, 48), tensors: 580, parameters: 1_557_611_200 },
  ])("$workload.name has $tensors tensors and $parameters parameters", ({ workload, tensors, parameters }) => {
    expect(workload.tensors).toHaveLength(tensors);
    expect(elementsOf(workload)).toBe(parameters);
  });

  it("ResNet-50 has as many tensors of each size as the model", () => {
    const sizes =
      "256×14 512×16 1024×32 2048×22 4000×1 4096×14 8192×8 16384×1 37632×1 65536×6 131072×1 147456×3 262144×7 524288×2 589824×4 " +
      "1048576×11 2097152×2 2359296×6 4194304×5 8192000×1 8388608×1 9437184×3";
    const counts = new Map<number, number>();
    for (const { elements } of resnet50().tensors) counts.set(4 * elements, (counts.get(4 * elements) ?? 0) + 1);
    const found = [...counts].sort(([a], [b]) => a - b).map(([bytes, count]) => `${bytes}×${count}`);
    expect(found.join(" ")).toBe(sizes);
  });

  it.each([resnet50(), vitB16(), gpt2()])("$name names every tensor once", ({ tensors }) => {
    expect(new Set(tensors.map(({ name }) => name)).size).toBe(tensors.length);
  });
});

describe("scaled", () => {
  it("shrinks every tensor and leaves none empty", () => {
    const small = scaled(resnet50(), 0.001);
    expect(small.tensors).toHaveLength(161);
    expect(Math.min(...small.tensors.map(({ elements }) => elements))).toBe(1);
    expect(Math.max(...small.tensors.map(({ elements }) => elements))).toBe(Math.round(2_359_296 * 0.001));
  });

  it("changes nothing at 1", () => {
    expect(scaled(resnet50(), 1)).toEqual(resnet50());
  });
});
