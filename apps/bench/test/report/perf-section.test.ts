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

it("says each backend's own average, and of reports with one over all of them none", () => {
  const report = readReport(readFileSync(path, "utf8"), path);
  const average = (one: typeof report): string | undefined =>
    perfSection(one, "section", "FILE").facts.find((fact) => fact.endsWith("(FILE)"));
  expect(average(report)).toMatch(/: 0 wrong \(FILE\)$/);
  const { dfccl } = report;
  if (dfccl === undefined) throw new Error("no report of these programs");
  const backends = dfccl.backends.map((backend, i) => ({ ...backend, average_bus_bandwidth: i + 1 }));
  expect(average({ ...report, dfccl: { ...dfccl, backends } })).toMatch(/: 0 wrong, cuda 1 GB\/s, nccl 2 GB\/s on average \(FILE\)$/);
});
