import {
  calibrate,
  type LateRankPolicy,
  type LateRankResult,
  type LateRankSetting,
  type MeasuredCase,
  orderingWorkload,
  type RankResult,
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

const lateNs = [0, 3e6, 10e6, 20e6, 30e6, 100e6];
const seeds = [1, 2, 3, 4, 5];

function reportLateRank(): PresetReport {
  const rows = lateNs.flatMap((late) => lateRankRows({ lateNs: late }));
  const [standard, oneAtALook, quickPolls, neither] = [{}, { fetchBatch: 1 }, { pollNs: 20 }, { fetchBatch: 1, pollNs: 20 }].map(
    (setting) => lateRankRows(setting).filter(({ policy }) => policy === "fixed 10,000"),
  );
  const causes = [
    { setting: "whole bursts a look, polls of 1.1 µs", rows: standard },
    { setting: "one submission a look", rows: oneAtALook },
    { setting: "polls of 20 ns", rows: quickPolls },
    { setting: "both", rows: neither },
  ].flatMap(({ setting, rows: all }) => (all ?? []).map((row) => ({ setting, ...row })));
  const columns = ["end", "samples/s", "context switches", "most of one", "longest queue"];
  const cells = (row: LateRankRow): string[] => [
    row.finished ? nanoseconds(row.endNs) : "deadlock",
    row.samplesPerSecond.toFixed(0),
    formatCount(row.preemptions),
    formatCount(row.mostPreempted),
    formatCount(row.longestQueue),
  ];
  const text = [
    formatTable(
      rows.map((row) => [row.policy, nanoseconds(row.lateNs), ...cells(row)]),
      ["threshold", "rank 2 late by", ...columns],
    ),
    formatTable(
      causes.map((row) => [row.setting, ...cells(row)]),
      ["fixed 10,000, 30 ms late", ...columns],
    ),
  ].join("\n\n");
  return { rows: [...rows, ...causes], text, chart: async () => (await charts()).lateRankChart() };
}

interface LateRankRow {
  readonly policy: LateRankPolicy;
  readonly lateNs: number;
  readonly finished: boolean;
  readonly endNs: number;
  readonly samplesPerSecond: number;
  readonly preemptions: number;
  readonly mostPreempted: number;
  readonly longestQueue: number;
}

/** Means over the seeds, and the largest of what is called most or longest; a row for each policy. */
function lateRankRows(setting: Partial<LateRankSetting>): readonly LateRankRow[] {
  const runs = seeds.map((seed) => simulateLateRank({ ...setting, seed }));
  return (runs[0] ?? []).map(({ policy, lateNs: late }, i) => {
    const results = runs.flatMap((run) => run[i] ?? []);
    const mean = (of: (run: LateRankResult) => number): number => results.reduce((sum, run) => sum + of(run), 0) / results.length;
    const most = (of: (rank: RankResult) => readonly number[]): number =>
      Math.max(0, ...results.flatMap(({ result }) => result.ranks.flatMap((rank) => of(rank).filter((value) => value > 0))));
    return {
      policy,
      lateNs: late,
      finished: results.every(({ result }) => result.finished),
      endNs: mean(({ result }) => result.endNs),
      samplesPerSecond: mean(({ samplesPerSecond }) => samplesPerSecond),
      preemptions: mean(({ result }) => result.preemptions),
      mostPreempted: most(({ preemptionsOf }) => preemptionsOf),
      longestQueue: most(({ queueLengths }) => queueLengths),
    };
  });
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
