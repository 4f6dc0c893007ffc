import { readFileSync } from "node:fs";
import { readReport } from "@dfccl/collective-tests";
import { expect, it } from "vitest";
import { median } from "../../src/peers/median.js";
import { colorsOf, meaningOf } from "../../src/report/colors.js";
import type { Chart } from "../../src/report/model.js";
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

const colorsIn = (charts: readonly Chart[]): Map<string, Set<string>> => {
  const colors = colorsOf(charts);
  const meanings = new Map<string, Set<string>>();
  for (const chart of charts) {
    for (const series of chart.series) {
      const color = colors.get(meaningOf(chart, series)) ?? "none";
      meanings.set(color, (meanings.get(color) ?? new Set()).add(series.group));
    }
  }
  return meanings;
};

it("gives a backend one colour in every chart, also in those that it has for itself, and a place a dash", () => {
  const report = readReport(readFileSync(path, "utf8"), path);
  const { dfccl } = report;
  if (dfccl === undefined) throw new Error("no report of these programs");
  const busy = { preemptions: 9, quits: 9, visits: 10, queueLengthSum: 30 };
  const counters = report.results.map(({ backend }) => (backend === "nccl" ? null : { out_of_place: busy, in_place: busy }));
  const { charts } = perfSection({ ...report, dfccl: { ...dfccl, counters: counters as never } }, "section", path);
  expect(charts).toHaveLength(6);
  const colors = colorsIn(charts);
  expect([...colors.keys()]).toHaveLength(2);
  for (const groups of colors.values()) expect([...groups]).toHaveLength(1);
});

it("has a colour for each of many lines", () => {
  const series = Array.from({ length: 20 }, (_, i) => ({ name: `line ${i}`, group: `group ${i}`, points: [] }));
  const chart = { id: "a", title: "", kind: "lines", x: { name: "", format: "text" }, y: { name: "", format: "text" }, series } as const;
  expect(new Set(colorsOf([chart]).values()).size).toBe(20);
});

it("leaves out charts of counters that are 0, or 1, everywhere", () => {
  const report = readReport(readFileSync(path, "utf8"), path);
  const { dfccl } = report;
  if (dfccl === undefined) throw new Error("no report of these programs");
  const idle = { preemptions: 0, quits: 0, visits: 10, queueLengthSum: 10 };
  const counters = report.results.map(() => ({ out_of_place: idle, in_place: idle }));
  expect(perfSection({ ...report, dfccl: { ...dfccl, counters: counters as never } }, "section", path).charts).toHaveLength(3);
});
