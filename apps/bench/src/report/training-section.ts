import type { SyntheticResult, TrainResult } from "@dfccl/train";
import type { Chart, Section } from "./model.js";

/** What `dfccl train --json` wrote; `kind` tells it from other results. */
export type TrainingReport = { readonly kind: "training" } & TrainResult;

/** What `dfccl train synthetic --json` wrote. */
export interface SyntheticReport extends SyntheticResult {
  readonly kind: "synthetic";
  readonly workload: string;
  readonly ranks: number;
  readonly steps: number;
  readonly schedule: string;
}

/** Loss and speed over the steps of one run; runs of several files share their colours by schedule. */
export function trainingSection(report: TrainingReport, id: string): Section {
  const { model, ranks, parallel, steps, globalBatch, schedule, losses, samplesPerSecond, accuracy, resumedAt } = report;
  const how = `dp=${parallel.dp} tp=${parallel.tp} pp=${parallel.pp}`;
  return {
    id,
    title: `Training ${model}: ${schedule}, ${how}`,
    facts: [
      `${ranks} ranks, ${steps} steps of ${globalBatch} records, seed ${report.seed}, ${report.optimizer} at ${report.learningRate}`,
      `${samplesPerSecond.toFixed(0)} samples a second; ${(100 * accuracy).toFixed(2)} % right on the test part`,
      ...(resumedAt === undefined ? [] : [`resumed after step ${resumedAt}`]),
    ],
    charts: [
      {
        id: `${id}-loss`,
        title: "Loss of the global batch",
        kind: "lines",
        x: { name: "step", format: "number" },
        y: { name: "loss", format: "number" },
        series: [{ name: schedule, group: schedule, points: losses.map((loss, i) => [i + 1, loss] as const) }],
      },
      speedChart(id, schedule, report.stepMs, globalBatch, "samples a second"),
    ],
  };
}

export function syntheticSection(report: SyntheticReport, id: string): Section {
  const { workload, ranks, steps, schedule, stepsPerSecond, wrong } = report;
  return {
    id,
    title: `Gradients of ${workload}: ${schedule}`,
    facts: [`${ranks} ranks, ${steps} steps`, `${stepsPerSecond.toFixed(2)} steps a second; ${wrong} wrong averages`],
    charts: [speedChart(id, schedule, report.stepMs, 1, "steps a second")],
  };
}

/** Single steps vary: a bar for the slow tenth, the middle and the fast tenth each. */
function speedChart(id: string, schedule: string, stepMs: readonly number[], perStep: number, name: string): Chart {
  const sorted = [...stepMs].sort((a, b) => b - a);
  const at = (share: number): number | null => {
    const ms = sorted[Math.floor(share * (sorted.length - 1))];
    return ms === undefined ? null : (1000 * perStep) / ms;
  };
  return {
    id: `${id}-speed`,
    title: "Throughput",
    kind: "bars",
    x: { name: "", format: "text", categories: ["slowest tenth from", "median step", "fastest tenth from"] },
    y: { name, format: "number" },
    series: [{ name: schedule, group: schedule, points: [at(0.1), at(0.5), at(0.9)] }],
  };
}

/** Runs beside each other: one bar each, one curve each. Nothing for a single run. */
export function trainingComparison(reports: readonly TrainingReport[], id: string): Section | undefined {
  if (reports.length < 2) return undefined;
  const nameOf = ({ model, schedule, parallel }: TrainingReport): string =>
    `${model}, ${schedule}, dp=${parallel.dp} tp=${parallel.tp} pp=${parallel.pp}`;
  return {
    id,
    title: "Training runs beside each other",
    facts: reports.map((report) => `${nameOf(report)}: ${report.samplesPerSecond.toFixed(0)} samples a second`),
    charts: [
      {
        id: `${id}-throughput`,
        title: "Throughput",
        kind: "bars",
        x: { name: "", format: "text", categories: reports.map(nameOf) },
        y: { name: "samples a second", format: "number" },
        series: [{ name: "mean", group: "mean", points: reports.map(({ samplesPerSecond }) => samplesPerSecond) }],
      },
      {
        id: `${id}-losses`,
        title: "Loss of the global batch",
        kind: "lines",
        x: { name: "step", format: "number" },
        y: { name: "loss", format: "number" },
        series: reports.map((report) => ({
          name: nameOf(report),
          group: report.schedule,
          points: report.losses.map((loss, i) => [i + 1, loss] as const),
        })),
      },
    ],
  };
}
