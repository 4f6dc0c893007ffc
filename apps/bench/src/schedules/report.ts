import { markdownTable } from "../peers/markdown.js";
import { describeHeader, type ReportHeader } from "../peers/report-header.js";
import { reportPage } from "../peers/report-page.js";
import { formatTable } from "../terminal/table.js";
import { type Timing, throughputOf } from "./interleave.js";

export interface DataParallelResult {
  readonly workload: string;
  readonly bytes: number;
  readonly ranks: number;
  readonly computeMs: number;
  readonly timings: readonly Timing[];
}

export interface HybridResult {
  readonly setting: string;
  readonly ranks: number;
  readonly computeMs: number;
  readonly timings: readonly Timing[];
}

export interface SchedulesReport {
  readonly kind: "schedules";
  readonly header: ReportHeader & { readonly rounds: number; readonly steps: number; readonly jitter: number; readonly seed: number };
  readonly dataParallel: readonly DataParallelResult[];
  readonly hybrid: readonly HybridResult[];
}

interface Section {
  readonly title: string;
  readonly note: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

function sectionsOf({ dataParallel, hybrid }: SchedulesReport): Section[] {
  const percent = (share: number): string => (Number.isNaN(share) ? "–" : `${(100 * share).toFixed(1)}%`);
  const sections: Section[] = [];
  for (const { workload, bytes, ranks, computeMs, timings } of dataParallel) {
    const against = (timing: Timing, name: string): string => {
      const other = timings.find((candidate) => candidate.name === name);
      return other === undefined ? "–" : percent(throughputOf(timing, other));
    };
    sections.push({
      title: `${workload}: data parallelism on ${ranks} ranks`,
      note: `${(bytes / 2 ** 20).toFixed(1)} MiB of gradients a rank and step, ${computeMs} ms of computing.`,
      columns: ["schedule", "step, ms", "steps/s", "variation", "of static", "of coordinator"],
      rows: timings.map((timing) => [
        timing.name,
        timing.medianMs.toFixed(2),
        timing.stepsPerSecond.toFixed(2),
        percent(timing.variation),
        against(timing, "static"),
        against(timing, "coordinator"),
      ]),
    });
  }
  if (hybrid.length > 0) {
    sections.push({
      title: "Parallel in several ways: preemptive beside the manual order",
      note: "Collectives submitted when they are ready, against one order fixed by hand on each rank.",
      columns: ["setting", "ranks", "compute, ms", "preemptive, ms", "manual, ms", "throughput", "variation", "variation, manual"],
      rows: hybrid.map(({ setting, ranks, computeMs, timings: [preemptive, manual] }) => [
        setting,
        String(ranks),
        String(computeMs),
        preemptive?.medianMs.toFixed(2) ?? "–",
        manual?.medianMs.toFixed(2) ?? "–",
        preemptive && manual ? percent(throughputOf(preemptive, manual)) : "–",
        percent(preemptive?.variation ?? Number.NaN),
        percent(manual?.variation ?? Number.NaN),
      ]),
    });
  }
  return sections;
}

export function describeSchedules(report: SchedulesReport): string {
  const sections = sectionsOf(report).map(({ title, note, columns, rows }) => `${title}\n${note}\n${formatTable(rows, columns)}`);
  return [describeHeader(report.header).join("\n"), ...sections].join("\n\n");
}

export function schedulesMarkdown(report: SchedulesReport): string {
  const { rounds, steps, jitter, seed } = report.header;
  const how = [
    `${rounds} rounds of ${steps} steps of each contender, in turns, beginning with another one each round; seed ${seed}`,
    `synthetic gradients of the real sizes; devices compute for a given time, up to ${100 * jitter}% more or less on each rank and step, while the host is free`,
    "throughput against another: the median over the rounds of the ratio of their median steps; variation: standard deviation over mean of all steps",
    "static: order and groups (16 MiB, 64) fixed before; coordinator: 1 ms cycle, up to 64 MiB launched as one, or copied into one buffer as Horovod does; learned: the mean order of the first step",
  ];
  const body = sectionsOf(report).map(({ title, note, columns, rows }) => `## ${title}\n\n${note}\n\n${markdownTable(columns, rows)}`);
  return reportPage("Schedules of gradients beside each other", report.header, how, `${body.join("\n\n")}\n`);
}
