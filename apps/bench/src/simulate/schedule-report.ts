import {
  calibrate,
  type MeasuredCase,
  orderingWorkload,
  type ScheduleResult,
  type ScheduleWorkload,
  SimulationConfigError,
  scales,
  simulateLateRank,
  simulateOrderings,
  simulatePriority,
  simulateScale,
  simulateValley,
} from "@dfccl/simulator";
import { formatBytes, formatCount, formatCountOf, formatSeconds, formatTable } from "../terminal/table.js";

export const presetNames = ["late-rank", "valley", "priority", "orderings", "scale", "calibrate"] as const;
export type PresetName = (typeof presetNames)[number];

export interface PresetOptions {
  readonly seed: number;
  readonly gpus: number;
  readonly readMeasured: () => unknown;
}

export interface PresetReport {
  readonly rows: readonly unknown[];
  readonly text: string;
  /** An SVG, of those that are drawn. */
  readonly chart?: () => Promise<string>;
}

const presets: Readonly<Record<PresetName, (options: PresetOptions) => PresetReport>> = {
  "late-rank": reportLateRank,
  valley: reportValley,
  priority: reportPriority,
  orderings: reportOrderings,
  scale: reportScale,
  calibrate: reportCalibration,
};

// Loaded where something is drawn: the library is large.
const charts = () => import("./schedule-charts.js");

export function runPreset(name: PresetName, options: PresetOptions): PresetReport {
  return presets[name](options);
}

export function describeRun(workload: ScheduleWorkload, result: ScheduleResult): string {
  const completed = result.completedAtNs.filter(Number.isFinite).length;
  const longest = result.ranks.reduce((most, { queueLengths }) => queueLengths.reduce((a, b) => Math.max(a, b), most), 0);
  return formatTable([
    ["collectives completed", `${formatCount(completed)} of ${formatCount(workload.collectives.length)}`],
    ["last completion", completed === 0 ? "–" : nanoseconds(result.endNs)],
    ["preemptions", formatCount(result.preemptions)],
    ["voluntary quits", formatCount(result.quits)],
    ["task-queue length, most", formatCount(longest)],
    ["events simulated", formatCount(result.events)],
    ["outcome", result.finished ? "all completed" : "deadlock"],
  ]);
}

function reportLateRank(): PresetReport {
  const results = [0, 1e6, 3e6, 10e6, 30e6].flatMap((lateNs) => simulateLateRank(lateNs));
  const rows = results.map(({ policy, lateNs, result }) => ({
    policy,
    lateNs,
    endNs: result.endNs,
    finished: result.finished,
    preemptions: result.preemptions,
    longestQueue: Math.max(...result.ranks.map(({ queueLengths }) => Math.max(...queueLengths))),
    mostPreempted: Math.max(0, ...result.ranks.flatMap(({ preemptionsOf }) => preemptionsOf.filter((count) => count > 0))),
    ranks: result.ranks,
  }));
  const text = formatTable(
    rows.map((row) => [
      row.policy,
      nanoseconds(row.lateNs),
      nanoseconds(row.endNs),
      formatCount(row.preemptions),
      formatCount(row.mostPreempted),
      formatCount(row.longestQueue),
    ]),
    ["threshold", "rank 2 late by", "end", "context switches", "most of one", "longest queue"],
  );
  return { rows, text, chart: async () => (await charts()).lateRankChart(10e6) };
}

function reportValley(): PresetReport {
  const thresholds = [1, 4, 16, 64, 128, 256, 512, 1024, 4096, 16_384];
  const switches = [500, 10_000, 30_000];
  const curves = switches.map((switchNs) => simulateValley(thresholds, switchNs));
  const rows = switches.flatMap((switchNs, i) => (curves[i] ?? []).map((point) => ({ switchNs, ...point })));
  const text = formatTable(
    thresholds.map((threshold, i) => [formatCount(threshold), ...curves.map((curve) => nanoseconds(curve[i]?.endNs ?? 0))]),
    ["threshold", ...switches.map((switchNs) => `switch ${nanoseconds(switchNs)}`)],
  );
  const drawn = switches.map((switchNs, i) => ({ switchNs, points: curves[i] ?? [] }));
  return { rows, text, chart: async () => (await charts()).valleyChart(drawn) };
}

function reportPriority(): PresetReport {
  const rows = simulatePriority();
  const text = formatTable(
    rows.map((row) => [row.policy, nanoseconds(row.iterationNs), nanoseconds(row.exposedNs), formatCount(row.preemptions)]),
    ["order", "iteration", "not overlapped", "context switches"],
  );
  return { rows, text };
}

function reportOrderings({ seed }: PresetOptions): PresetReport {
  const rows = [8, 4].flatMap((ranksPerIsland) =>
    simulateOrderings(seed, { ...orderingWorkload, ranksPerIsland }).map((row) => ({ ranksPerIsland, ...row })),
  );
  const text = [8, 4].flatMap((ranksPerIsland) =>
    [false, true].map((hasSynchronizations) => {
      const shown = rows.filter((row) => row.ranksPerIsland === ranksPerIsland && row.hasSynchronizations === hasSynchronizations);
      const title = `${formatCountOf(orderingWorkload.ranks / ranksPerIsland, "machine")} of ${formatCountOf(ranksPerIsland, "rank")}, ${hasSynchronizations ? "with" : "without"} synchronizations`;
      const lines = shown.map(({ ordering, finished, endNs, latencyNs, messages }) => [
        ordering,
        ...(finished
          ? [nanoseconds(endNs), (orderingWorkload.collectives / (endNs / 1e9)).toFixed(0), nanoseconds(latencyNs)]
          : ["deadlock", "–", "–"]),
        formatCount(messages),
      ]);
      return `${title}\n${formatTable(lines, ["ordering", "end", "collectives/s", "latency", "messages"])}`;
    }),
  );
  return { rows, text: text.join("\n\n") };
}

function reportScale({ seed, gpus }: PresetOptions): PresetReport {
  const rows = scales.filter(([tp, dp, pp]) => tp * dp * pp <= gpus).map((scale) => simulateScale(scale, seed));
  const text = formatTable(
    rows.map((row) => [
      formatCount(row.gpus),
      formatCount(row.events),
      formatSeconds(row.seconds),
      `${((1e6 * row.seconds) / row.events).toFixed(1)} µs`,
      formatBytes(row.heapBytes),
      nanoseconds(row.endNs),
      nanoseconds(row.disorderedEndNs),
      row.preemptionsPerGpu.toFixed(1),
    ]),
    ["GPUs", "events", "time", "an event", "memory", "one order", "disordered", "switches a GPU"],
  );
  return { rows, text };
}

function reportCalibration({ readMeasured }: PresetOptions): PresetReport {
  const { predictions, medianError } = calibrate(measuredCases(readMeasured()));
  const lines = predictions.map(({ ranks, bytes, microseconds, predictedMicroseconds, error }) => [
    `${ranks} ranks`,
    formatBytes(bytes),
    nanoseconds(1000 * microseconds),
    nanoseconds(1000 * predictedMicroseconds),
    `${error > 0 ? "+" : ""}${(100 * error).toFixed(0)}%`,
  ]);
  const table = formatTable(lines, ["", "size", "measured", "predicted", "error"]);
  return { rows: predictions, text: `${table}\n  median error ${(100 * medianError).toFixed(0)}%` };
}

/** The rows of `dfccl bench mpi --json`. */
function measuredCases(report: unknown): readonly MeasuredCase[] {
  const { rows } = (report ?? {}) as { rows?: unknown };
  const cases = Array.isArray(rows) ? rows.map((row) => row as { ranks?: unknown; bytes?: unknown; oursUs?: unknown } | null) : [];
  return cases.map((row, i) => {
    const [ranks, bytes, microseconds] = [row?.ranks, row?.bytes, row?.oursUs];
    if (typeof ranks === "number" && typeof bytes === "number" && typeof microseconds === "number") return { ranks, bytes, microseconds };
    throw new SimulationConfigError("of measurements", [{ key: `rows[${i}]`, value: row, problem: "must have ranks, bytes and oursUs" }]);
  });
}

function nanoseconds(value: number): string {
  return value === 0 ? "0" : formatSeconds(value / 1e9);
}
