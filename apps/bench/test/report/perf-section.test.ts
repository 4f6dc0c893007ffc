import { readFileSync } from "node:fs";
import { readReport } from "@dfccl/collective-tests";
import { expect, it } from "vitest";
import { median } from "../../src/peers/median.js";
import { perfSection } from "../../src/report/perf-section.js";

const path = new URL("../../../../docs/benchmarks/gpu/two/perf-all_reduce.json", import.meta.url).pathname;

it("draws this engine on GPUs and NCCL, of several cycles the median", () => {
  const report = readReport(readFileSync(path, "utf8"), path);
  const { charts, facts } = perfSection(report, "section", path);
  expect(facts.join("\n")).toMatch(/measured: cuda \S+, nccl 2\.28\.3;/);
  const [latency] = charts;
  expect(latency?.series.map(({ name }) => name).toSorted()).toEqual([
    "cuda, in place",
    "cuda, out of place",
    "nccl, in place",
    "nccl, out of place",
  ]);
  const sizes = [...new Set(report.results.map(({ size }) => size))];
  const ofSmallest = report.results.filter(({ size, backend }) => size === 8 && backend === "nccl");
  expect(ofSmallest).toHaveLength(3);
  const times = ofSmallest.map(({ out_of_place }) => out_of_place?.time ?? Number.NaN);
  for (const { name, points } of latency?.series ?? []) {
    expect(points.map((point) => (point as readonly [number, number])[0])).toEqual(sizes);
    if (name === "nccl, out of place") expect(points[0]).toEqual([8, median(times)]);
  }
});
