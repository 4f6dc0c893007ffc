import {
  type Disorder,
  disorders,
  groupScales,
  type ScaleOptions,
  type ScaleResult,
  type ScaleSizes,
  scales,
  simulateScale,
} from "@dfccl/simulator";
import { type Chart, line, palette, plot } from "../../charts/chart.js";
import { formatBytes, formatCount, formatSeconds } from "../../terminal/table.js";
import { nanoseconds, type PresetReport } from "../preset-report.js";

export interface ScaleReportOptions extends ScaleOptions {
  /** Most GPUs. */
  readonly gpus: number;
  readonly onStep?: (share: number, what: string) => void;
}

const groupSizes: ScaleSizes = [8, 10, 10];

/** 8 to 100,000 GPUs: events, time and memory of the simulation, and what preemption costs where. */
export async function reportScale({ gpus, seed, signal, onStep }: ScaleReportOptions): Promise<PresetReport> {
  const sizes = scales.filter((scale) => gpusOf(scale) <= gpus);
  const plans: readonly { readonly part: string; readonly sizes: ScaleSizes; readonly disorder?: Disorder }[] = [
    ...sizes.map((scale) => ({ part: "GPUs", sizes: scale })),
    ...groupScales.map((scale) => ({ part: "groups", sizes: scale })),
    ...disorders.map((disorder) => ({ part: "disorder", sizes: groupSizes, disorder })),
  ]
    .filter((plan) => gpusOf(plan.sizes) <= gpus)
    // The largest last: it takes longest, and memory is the most so far.
    .sort((a, b) => gpusOf(a.sizes) - gpusOf(b.sizes));
  const total = plans.reduce((sum, plan) => sum + gpusOf(plan.sizes), 0);
  const rows: ScaleRow[] = [];
  let done = 0;
  for (const { part, sizes: ofPlan, disorder } of plans) {
    const share = gpusOf(ofPlan) / total;
    const what = `${formatCount(gpusOf(ofPlan))} GPUs`;
    const result = await simulateScale(ofPlan, {
      seed,
      ...(signal === undefined ? {} : { signal }),
      ...(disorder === undefined ? {} : { disorder }),
      onProgress: (part) => onStep?.(done + part * share, what),
    });
    if (result === undefined) break;
    done += share;
    rows.push({ part, ...result });
  }
  const of = (part: string): readonly ScaleRow[] => rows.filter((row) => row.part === part);
  return {
    title: "Scale",
    lead: "3D-parallel groups on machines of eight GPUs: the same order everywhere without and with preemption, and orders that differ.",
    rows,
    tables: [
      {
        header: ["GPUs", "events", "time", "an event", "memory", ...costColumns],
        rows: of("GPUs").map((row) => [
          formatCount(row.gpus),
          formatCount(row.events),
          formatSeconds(row.seconds),
          `${((1e6 * row.seconds) / row.events).toFixed(1)} µs`,
          formatBytes(row.peakBytes),
          ...costs(row),
        ]),
      },
      {
        header: ["800 GPUs in data-parallel groups of", ...costColumns],
        rows: of("groups").map((row) => [formatCount(row.sizes[1]), ...costs(row)]),
      },
      {
        header: ["800 GPUs, neighbours swapped", ...costColumns],
        rows: of("disorder").map((row) => [row.disorder === "random" ? "random order" : `${100 * row.disorder}%`, ...costs(row)]),
      },
    ].filter((table) => table.rows.length > 0),
    charts: of("GPUs").length < 2 ? [] : scaleCharts(of("GPUs")),
    ...(rows.length < plans.length ? { note: `Interrupted: a partial result, of ${rows.length} of ${plans.length} simulations.` } : {}),
  };
}

type ScaleRow = ScaleResult & { readonly part: string };

const costColumns = ["in order", "preemptive", "in disorder", "costs", "switches a GPU", "longest queue"];

function costs(row: ScaleResult): string[] {
  return [
    nanoseconds(row.inOrderNs),
    nanoseconds(row.endNs),
    Number.isFinite(row.disorderedNs) ? nanoseconds(row.disorderedNs) : "deadlock",
    `${(100 * (row.disorderedNs / row.inOrderNs - 1)).toFixed(0)}%`,
    row.preemptionsPerGpu.toFixed(1),
    formatCount(row.longestQueue),
  ];
}

function gpusOf([tp, dp, pp]: ScaleSizes): number {
  return tp * dp * pp;
}

export function scaleCharts(rows: readonly ScaleResult[]): readonly Chart[] {
  const over = (of: (row: ScaleResult) => number) => rows.map((row): [number, number] => [row.gpus, of(row)]);
  return [
    plot({
      name: "scale-simulation",
      title: "Events, time and memory of the simulation over GPUs",
      x: { name: "GPUs", type: "log" },
      y: { name: "", type: "log" },
      series: [
        line(
          "events, thousands",
          over(({ events }) => events / 1000),
        ),
        line(
          "time, s",
          over(({ seconds }) => seconds),
        ),
        line(
          "memory, MB",
          over(({ peakBytes }) => peakBytes / 1e6),
        ),
      ],
    }),
    plot({
      name: "scale-preemption",
      title: "What preemption costs over GPUs",
      x: { name: "GPUs", type: "log" },
      y: { name: "µs", min: 0 },
      series: [
        line(
          "one order, without preemption",
          over(({ inOrderNs }) => inOrderNs / 1000),
          palette[6],
        ),
        line(
          "one order, with preemption",
          over(({ endNs }) => endNs / 1000),
          palette[0],
        ),
        line(
          "a fifth of neighbours swapped, with preemption",
          over(({ disorderedNs }) => disorderedNs / 1000),
          palette[1],
        ),
      ],
    }),
  ];
}
