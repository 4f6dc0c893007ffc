import { describeHeader } from "../peers/report-header.js";
import type { StickinessReport, StickinessRun } from "../stickiness/report.js";
import type { Chart, Section } from "./model.js";

/** What `dfccl stickiness --json` wrote: DFCCL's Fig. 11, on this engine. */
export function stickinessSection(report: StickinessReport, id: string): Section {
  const { runs, header, ranks, collectives, iterations, lateRank } = report;
  const lateness = [...new Set(runs.map(({ lateMs }) => lateMs))];
  const late = runs.filter(({ lateMs }) => lateMs === Math.max(...lateness));
  const along = (name: string, title: string, yName: string, value: (run: StickinessRun, i: number) => number | undefined): Chart => ({
    id: `${id}-${name}`,
    title: `${title}, rank ${lateRank} being ${late[0]?.lateMs ?? 0} ms late`,
    kind: "lines",
    x: { name: "collectives in the order of their completion on rank 0", format: "number" },
    y: { name: yName, format: "number" },
    series: late.map((run) => ({
      name: run.policy,
      group: run.policy,
      points: run.completions.map((_, i) => [i, value(run, i) ?? 0] as const),
    })),
  });
  const policies = [...new Set(runs.map(({ policy }) => policy))];
  return {
    id,
    title: "Stickiness: fixed and adaptive thresholds",
    facts: [
      `command: ${header.command}`,
      ...describeHeader(header),
      `${collectives} all-reduces in random orders on ${ranks} ranks, ${iterations} iterations`,
      "what completes between two looks of JavaScript at the completion queue shares one figure; dfccl simulate schedule has each collective's own",
    ],
    charts: [
      along("queue", "Task-queue length", "mean length", (run, i) => run.completions[i]?.queueLength),
      along("switches", "Context switches", "since the completion before", (run, i) => run.completions[i]?.switches),
      {
        id: `${id}-throughput`,
        title: "Throughput",
        kind: "bars",
        x: { name: "", format: "text", categories: lateness.map((ms) => (ms === 0 ? "nobody late" : `rank ${lateRank}, ${ms} ms late`)) },
        y: { name: "iterations a second", format: "number" },
        series: policies.map((policy) => ({
          name: policy,
          group: policy,
          points: lateness.map((ms) => runs.find((run) => run.policy === policy && run.lateMs === ms)?.iterationsPerSecond ?? null),
        })),
      },
    ],
  };
}
