import { type LateRankPolicy, type LateRankResult, type LateRankSetting, type RankResult, simulateLateRank } from "@dfccl/simulator";
import { type Chart, line, palette, plot } from "../../charts/chart.js";
import { formatCount } from "../../terminal/table.js";
import { nanoseconds, type PresetReport } from "../preset-report.js";

const delaysNs = [0, 3e6, 10e6, 20e6, 30e6, 100e6];
const seeds = [1, 2, 3, 4, 5];
const columns = ["end", "samples/s", "context switches", "most of one", "longest queue"];

/** One of four ranks is late: fixed thresholds against adaptive ones. */
export function reportLateRank(): PresetReport {
  const rows = delaysNs.flatMap((lateNs) => meanRows({ lateNs }));
  const causes = [
    { setting: "whole bursts a look, polls of 1.1 µs", change: {} },
    { setting: "one submission a look", change: { fetchBatch: 1 } },
    { setting: "polls of 20 ns", change: { pollNs: 20 } },
    { setting: "both", change: { fetchBatch: 1, pollNs: 20 } },
  ].flatMap(({ setting, change }) =>
    meanRows(change)
      .filter(({ policy }) => policy === "fixed 10,000")
      .map((row) => ({ setting, ...row })),
  );
  return {
    title: "One rank late",
    lead: "Four ranks, ResNet-50's 161 gradients in a burst, rank 2 being late (DFCCL, Fig. 11). Means over five seeds.",
    rows: [...rows, ...causes],
    tables: [
      {
        header: ["threshold", "rank 2 late by", ...columns],
        rows: rows.map((row) => [row.policy, nanoseconds(row.lateNs), ...cells(row)]),
      },
      { header: ["fixed 10,000, 30 ms late", ...columns], rows: causes.map((row) => [row.setting, ...cells(row)]) },
    ],
    charts: lateRankCharts(simulateLateRank(), rows),
  };
}

export interface LateRankRow {
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
function meanRows(setting: Partial<LateRankSetting>): readonly LateRankRow[] {
  const runs = seeds.map((seed) => simulateLateRank({ ...setting, seed }));
  return (runs[0] ?? []).map(({ policy, lateNs }, i) => {
    const results = runs.flatMap((run) => run[i] ?? []);
    const mean = (of: (run: LateRankResult) => number): number => results.reduce((sum, run) => sum + of(run), 0) / results.length;
    const most = (of: (rank: RankResult) => readonly number[]): number =>
      Math.max(0, ...results.flatMap(({ result }) => result.ranks.flatMap((rank) => of(rank).filter((value) => value > 0))));
    return {
      policy,
      lateNs,
      finished: results.every(({ result }) => result.finished),
      endNs: mean(({ result }) => result.endNs),
      samplesPerSecond: mean(({ samplesPerSecond }) => samplesPerSecond),
      preemptions: mean(({ result }) => result.preemptions),
      mostPreempted: most(({ preemptionsOf }) => preemptionsOf),
      longestQueue: most(({ queueLengths }) => queueLengths),
    };
  });
}

function cells(row: LateRankRow): string[] {
  return [
    row.finished ? nanoseconds(row.endNs) : "deadlock",
    row.samplesPerSecond.toFixed(0),
    formatCount(row.preemptions),
    formatCount(row.mostPreempted),
    formatCount(row.longestQueue),
  ];
}

/** Throughput over the delay; for one delay, switches and queue length of each collective, and task queues over time. */
export function lateRankCharts(results: readonly LateRankResult[], rows: readonly LateRankRow[]): readonly Chart[] {
  const policies = results.map(({ policy }) => policy);
  const late = `rank 2 being ${nanoseconds(results[0]?.lateNs ?? 0)} late`;
  const ofRank0 = (of: (rank: RankResult, collective: number) => number) =>
    results.map(({ policy, result }) => {
      const rank = result.ranks[0];
      const data = (rank?.queueLengths ?? []).map((_, i): [number, number] => [i, rank === undefined ? 0 : of(rank, i)]);
      return { ...line(policy, data), step: "middle" as const, showSymbol: false };
    });
  return [
    plot({
      name: "late-rank-throughput",
      title: "Throughput of ResNet-50 over the delay of one rank",
      x: { name: "delay of rank 2, ms" },
      y: { name: "samples/s", min: 0 },
      series: policies.map((policy) =>
        line(
          policy,
          rows.filter((row) => row.policy === policy).map((row): [number, number] => [row.lateNs / 1e6, row.samplesPerSecond]),
        ),
      ),
    }),
    plot({
      name: "late-rank-switches",
      title: `Context switches of each collective on rank 0, ${late}`,
      x: { name: "collective", max: 160 },
      y: { name: "context switches" },
      series: ofRank0((rank, i) => rank.preemptionsOf[i] ?? 0),
    }),
    plot({
      name: "late-rank-queue",
      title: `Task-queue length on rank 0 when it takes in each collective, ${late}`,
      x: { name: "collective", max: 160 },
      y: { name: "tasks" },
      series: ofRank0((rank, i) => rank.queueLengths[i] ?? 0),
    }),
    plot({
      name: "late-rank-queues-over-time",
      title: `Task queues of all ranks over time, ${late}`,
      x: { name: "time, ms", type: "log", min: 1 },
      y: { name: "tasks" },
      series: results.flatMap(({ policy, queues }, p) =>
        queues.map((changes, rank) => ({
          ...line(
            `rank ${rank}, ${policy}`,
            changes.map(([atNs, length]): [number, number] => [Math.max(atNs / 1e6, 1), length]),
            palette[rank],
          ),
          step: "end" as const,
          showSymbol: false,
          lineStyle: { type: p === 0 ? ("solid" as const) : ("dashed" as const), width: p === 0 ? 2 : 1.5 },
        })),
      ),
    }),
  ];
}
