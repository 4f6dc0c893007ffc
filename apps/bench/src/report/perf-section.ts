import type { JsonResult, JsonSide, ReadReport } from "@dfccl/collective-tests";
import { median } from "../peers/median.js";
import { formatBytes } from "../terminal/table.js";
import type { Chart, Section, Series } from "./model.js";

type Place = "out_of_place" | "in_place";
const places = [
  ["out_of_place", "out of place"],
  ["in_place", "in place"],
] as const;

/** A run of the collective tests, or of nccl-tests itself: latency and bandwidth over size, and what preemption did. */
export function perfSection(report: ReadReport, id: string, file: string): Section {
  const { dfccl } = report;
  const name = dfccl?.program ?? report.results[0]?.experiment_name ?? "collective";
  const ranks = dfccl?.ranks;
  return {
    id,
    title: `${name}${ranks === undefined ? "" : ` on ${ranks} ranks`}`,
    facts: factsOf(report, file),
    charts: [
      latencyChart(report, `${id}-latency`),
      overSize(
        report,
        `${id}-busbw`,
        "Bus bandwidth over size",
        { name: "bus bandwidth", format: "gigabytesPerSecond" },
        (side) => side.bus_bw,
      ),
      overSize(
        report,
        `${id}-algbw`,
        "Algorithm bandwidth over size",
        { name: "algorithm bandwidth", format: "gigabytesPerSecond" },
        (side) => side.alg_bw,
      ),
      ...counterCharts(report, id),
    ],
  };
}

/** With times of single iterations (-I 1) their median, which a busy moment doesn't move; else the mean that every row has. */
function latencyChart(report: ReadReport, id: string): Chart {
  const hasIterations = report.results.some((result) => result.out_of_place_per_iter ?? result.in_place_per_iter);
  const series = seriesOf(report, (result, place) => {
    const side = result[place];
    const median = result[`${place}_per_iter`]?.p50_us;
    const us = median ?? side?.time ?? side?.cpu_time ?? 0;
    return us > 0 ? us : undefined;
  });
  const title = hasIterations ? "Median time over size" : "Time over size";
  const x = { name: "size", isLog: true, format: "bytes" } as const;
  return { id, title, kind: "lines", x, y: { name: "time", isLog: true, format: "micros" }, series };
}

function overSize(
  report: ReadReport,
  id: string,
  title: string,
  y: Pick<Chart["y"], "name" | "format">,
  value: (side: JsonSide) => number,
): Chart {
  const series = seriesOf(report, (result, place) => {
    const side = result[place];
    const y = side ? value(side) : 0;
    return y > 0 ? y : undefined;
  });
  return { id, title, kind: "lines", x: { name: "size", isLog: true, format: "bytes" }, y: { ...y, isLog: true }, series };
}

/**
 * One line for each backend, type, operator, root and place; of several cycles (-N) the median. Sizes of 0 have no
 * logarithm, and are left out.
 */
function seriesOf(report: ReadReport, value: (result: JsonResult, place: Place, index: number) => number | undefined): Series[] {
  const lines = new Map<string, Omit<Series, "name" | "points"> & { readonly values: Map<number, number[]> }>();
  const isMany = (key: "type" | "redop" | "root"): boolean => new Set(report.results.map((result) => result[key])).size > 1;
  const many = (["type", "redop", "root"] as const).filter(isMany);
  const groupOf = (result: JsonResult): string => result.backend ?? report.dfccl?.backends[0]?.name ?? "nccl";
  const isOneGroup = new Set(report.results.map(groupOf)).size < 2;
  for (const [place, placeName] of places) {
    for (const [index, result] of report.results.entries()) {
      const group = groupOf(result);
      const what = [group, ...many.map((key) => (key === "root" ? `root ${result.root.trim()}` : result[key]))].join(", ");
      const name = `${what}, ${placeName}`;
      const line = lines.get(name) ?? { group, isDashed: place === "in_place", line: isOneGroup ? what : group, values: new Map() };
      lines.set(name, line);
      const y = value(result, place, index);
      if (result.size <= 0 || y === undefined) continue;
      // Added to the list that is there: a report of one size has as many values of it as rows.
      const values = line.values.get(result.size);
      if (values === undefined) line.values.set(result.size, [y]);
      else values.push(y);
    }
  }
  return [...lines].flatMap(([name, { values, ...line }]) => {
    const points = [...values].map(([size, all]): [number, number] => [size, median(all)]);
    return points.length > 0 ? [{ name, ...line, points }] : [];
  });
}

function counterCharts(report: ReadReport, id: string): Chart[] {
  const counters = report.dfccl?.counters ?? [];
  const iterations = (result: JsonResult): number =>
    Math.max(1, result.actual_iterations * Number(report.config.aggregated_iterations ?? 1));
  const x = { name: "size", isLog: true, format: "bytes" } as const;
  const anIteration = (key: "preemptions" | "quits"): Series[] =>
    seriesOf(report, (result, place, i) => {
      const c = counters[i]?.[place];
      return c ? c[key] / iterations(result) : undefined;
    });
  const queues = seriesOf(report, (_, place, i) => {
    const c = counters[i]?.[place];
    return c && c.visits > 0 ? c.queueLengthSum / c.visits : undefined;
  });
  const chart = (name: string, title: string, yName: string, series: readonly Series[]): Chart => {
    return { id: `${id}-${name}`, title, kind: "lines", x, y: { name: yName, format: "number" }, series };
  };
  return [
    chart("preemptions", "Preemptions an iteration", "preemptions, all ranks", anIteration("preemptions")),
    chart("queue", "Task-queue length", "mean over visits", queues),
    chart("quits", "Voluntary quits an iteration", "quits, all ranks", anIteration("quits")),
  ].filter(saysSomething);
}

/** Nowhere else than 0, or than 1, is what there is to see where nothing happened. */
function saysSomething({ series }: Chart): boolean {
  const values = series.flatMap(({ points }) => points.flatMap((point) => (Array.isArray(point) ? [Math.round(100 * point[1])] : [])));
  return ![0, 100].some((idle) => values.every((value) => value === idle));
}

function factsOf(report: ReadReport, file: string): string[] {
  const { dfccl, out_of_bounds: bounds } = report;
  const machine = dfccl?.machine ?? {};
  const text = (key: string): string => String(machine[key] ?? "–");
  return [
    `command: ${report.args.join(" ")}`,
    ...(dfccl
      ? [
          `machine: ${text("cpu")}, ${text("cores")} cores, ${formatBytes(Number(machine.memoryBytes ?? 0))}, ${text("kernel")}; ` +
            `${text("coreRoundTripNs")} ns from core to core and back, one core copies ${text("copyGBs")} GB/s, load before ${Number(machine.loadBefore ?? 0).toFixed(1)}`,
          `measured: ${dfccl.backends.map(({ name, version }) => `${name} ${version}`).join(", ")}; ` +
            `${dfccl.concurrent} at a time in ${dfccl.order} order${dfccl.delay ? `, rank ${dfccl.delay.rank} ${dfccl.delay.micros} µs late` : ""}`,
        ]
      : []),
    `from ${report.start_time} to ${report.end_time}: ${bounds.count} wrong${averagesText(report)} (${file})`,
    ...(dfccl?.refusals ?? []).map((reason) => `not measured: ${reason}`),
    ...(report.errors ?? []).map((error) => `error: ${error}`),
  ];
}

/** Each backend's own; reports of old have one over several of them, which says nothing. */
function averagesText({ dfccl, average_bus_bandwidth: { bandwidth } }: ReadReport): string {
  const backends = dfccl?.backends ?? [];
  if (backends.length < 2) return `, ${String(bandwidth)} GB/s on average`;
  const own = backends.flatMap(({ name, average_bus_bandwidth }) =>
    average_bus_bandwidth === undefined ? [] : [`, ${name} ${String(average_bus_bandwidth)} GB/s`],
  );
  return own.length > 0 ? `${own.join("")} on average` : "";
}
