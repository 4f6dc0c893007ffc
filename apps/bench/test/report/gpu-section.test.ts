import { readFileSync } from "node:fs";
import { PerfError } from "@dfccl/collective-tests";
import { describe, expect, it } from "vitest";
import { gpuSection, readGpuRows } from "../../src/report/gpu-section.js";
import { readSection } from "../../src/report/read-section.js";

const pathOf = (name: string): string => new URL(`../../../../docs/benchmarks/gpu/${name}.jsonl`, import.meta.url).pathname;
const rowsOf = (name: string): Readonly<Record<string, unknown>>[] =>
  readFileSync(pathOf(name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("a section of what dfccl_gpu wrote", () => {
  it("draws this engine and NCCL with the file's figures", () => {
    const { title, facts, charts } = readSection(pathOf("compare"), "gpu");
    expect(title).toBe("All-reduce on 4 GPUs");
    expect(facts[0]).toMatch(/^command: dfccl_gpu compare /);
    expect(charts.map(({ id }) => id)).toEqual(["gpu-latency", "gpu-busbw"]);
    const rows = rowsOf("compare").filter(({ bench }) => bench === "beside NCCL");
    expect(rows.length).toBeGreaterThan(10);
    const [ours, nccl, backToBack] = charts[0]?.series ?? [];
    expect(ours).toMatchObject({ name: "dfccl", points: rows.map(({ bytes, dfcclUs }) => [bytes, dfcclUs]) });
    expect(nccl).toMatchObject({ name: "NCCL", points: rows.map(({ bytes, ncclUs }) => [bytes, ncclUs]) });
    expect(backToBack).toMatchObject({ group: "NCCL", isDashed: true });
    // 8 bytes are no bandwidth that a figure with one decimal shows, and 0 has no logarithm.
    expect(charts[1]?.series[0]?.points[0]).toEqual([256, 0.1]);
  });

  it("draws a line for each number of blocks, and for each depth", () => {
    const latency = readSection(pathOf("latency"), "gpu").charts;
    expect(latency.map(({ id }) => id)).toEqual(["gpu-lanes"]);
    expect(latency[0]?.series.map(({ name }) => name)).toEqual(["1 block", "2 blocks", "4 blocks", "8 blocks", "16 blocks", "32 blocks"]);
    const [outstanding] = readSection(pathOf("pipeline"), "gpu").charts;
    expect(outstanding?.series.map(({ name, points }) => [name, points.length])).toEqual([["16 outstanding", 4]]);
  });

  it("tells runs of one id from runs of many", () => {
    const rows = [1, 16].map((ids) => ({ bench: "dfccl outstanding", bytes: 8, depth: 16, ids, usPerOperation: ids === 1 ? 8.5 : 1.6 }));
    const [outstanding] = gpuSection(rows, "gpu", "pipeline").charts;
    expect(outstanding?.series.map(({ name, points }) => [name, points])).toEqual([
      ["16 outstanding, all of one id", [[8, 8.5]]],
      ["16 outstanding", [[8, 1.6]]],
    ]);
  });

  it("refuses what holds no times over sizes, and leaves other files to others", () => {
    expect(() => readSection(pathOf("burst"), "gpu")).toThrowError(PerfError);
    expect(() => readSection(pathOf("burst"), "gpu")).toThrowError("burst.jsonl holds no times over sizes.");
    expect(readGpuRows('{"args": []}')).toBeUndefined();
    expect(readGpuRows("")).toBeUndefined();
  });

  it("draws what there is of a run that was stopped", () => {
    const text = readFileSync(pathOf("compare"), "utf8");
    const rows = readGpuRows(text.slice(0, text.indexOf('"ratio"', 900)));
    expect(gpuSection(rows ?? [], "gpu", "half").charts[0]?.series[0]?.points.length).toBeLessThan(10);
  });
});
