import { parseScheduleWorkload, type QueueChange, type ScheduleResult, scenarioOf, simulateLongSchedule } from "@dfccl/simulator";
import { type Chart, line, plot } from "../charts/chart.js";
import { watchForInterruption } from "../terminal/interruption.js";
import { withProgress } from "../terminal/progress.js";
import { say } from "../terminal/say.js";
import { formatCount, formatTable } from "../terminal/table.js";
import { drawReport } from "./draw-report.js";
import { nanoseconds, type PresetReport, reportText } from "./preset-report.js";
import { readJson } from "./read-json.js";
import type { SchedulePresetName } from "./schedule-preset-names.js";
import { runPreset } from "./schedule-presets.js";
import type { DrawingFlags } from "./write-report.js";

export interface SimulateScheduleFlags extends DrawingFlags {
  readonly preset?: SchedulePresetName;
  readonly seed: number;
  readonly gpus: number;
  readonly measured?: string;
  readonly json?: boolean;
}

const progressSteps = 1000;
// Of a workload's ranks, so many are drawn.
const mostDrawn = 8;

/** @returns the exit code. */
export async function simulateWorkload(path: string, flags: SimulateScheduleFlags): Promise<number> {
  const workload = parseScheduleWorkload(readJson(path), path);
  const queues = Array.from({ length: Math.min(workload.ranks, mostDrawn) }, (): QueueChange[] => []);
  using interruption = watchForInterruption();
  const result = await withProgress("Collectives", progressSteps, (progress) =>
    simulateLongSchedule(scenarioOf(workload, flags.seed), {
      signal: interruption.signal,
      onProgress: (share) => progress.update(Math.round(share * progressSteps)),
      onQueueLength: (rank, atNs, length) => queues[rank]?.push([atNs, length]),
    }),
  );
  if (result === undefined) {
    say("Interrupted: nothing was found out yet.");
    return interruption.exitCode() ?? 1;
  }
  const facts = factsOf(result);
  const report: PresetReport = {
    title: `Schedule of ${path}`,
    lead: `${formatCount(workload.ranks)} ranks, policy ${workload.policy}.`,
    rows: [result],
    tables: [{ header: ["what", "value"], rows: facts }],
    charts: [queueChart(queues)],
  };
  const written = await drawReport(flags, report, `dfccl simulate schedule ${path} --seed ${flags.seed}`);
  if (flags.json) say(JSON.stringify({ workload: path, seed: flags.seed, ...result }));
  else say([formatTable(facts), ...written].join("\n"));
  return result.finished ? 0 : 1;
}

/** @returns the exit code. */
export async function simulateSchedulePreset(preset: SchedulePresetName, flags: SimulateScheduleFlags): Promise<number> {
  using interruption = watchForInterruption();
  const options = {
    seed: flags.seed,
    gpus: flags.gpus,
    signal: interruption.signal,
    readMeasured: () => readJson(flags.measured ?? ""),
  };
  const report = await (preset === "scale"
    ? withProgress("Scale", progressSteps, (progress) =>
        runPreset(preset, { ...options, onStep: (share, what) => progress.update(Math.round(share * progressSteps), what) }),
      )
    : runPreset(preset, options));
  const written = await drawReport(flags, report, `dfccl simulate schedule --preset ${preset} --seed ${flags.seed}`);
  if (flags.json) say(JSON.stringify({ preset, seed: flags.seed, rows: report.rows, partial: interruption.signal.aborted }));
  else say([reportText(report), ...written].join("\n"));
  return interruption.exitCode() ?? 0;
}

function factsOf(result: ScheduleResult): string[][] {
  const completed = result.completedAtNs.filter(Number.isFinite).length;
  const longest = result.ranks.reduce((most, { queueLengths }) => queueLengths.reduce((a, b) => Math.max(a, b), most), 0);
  return [
    ["collectives completed", `${formatCount(completed)} of ${formatCount(result.completedAtNs.length)}`],
    ["last completion", completed === 0 ? "–" : nanoseconds(result.endNs)],
    ["preemptions", formatCount(result.preemptions)],
    ["voluntary quits", formatCount(result.quits)],
    ["task-queue length, most", formatCount(longest)],
    ["events simulated", formatCount(result.events)],
    ["outcome", result.finished ? "all completed" : "deadlock"],
  ];
}

export function queueChart(queues: readonly (readonly QueueChange[])[]): Chart {
  return plot({
    name: "task-queues",
    title: "Task queues over time",
    x: { name: "time, ms" },
    y: { name: "tasks" },
    series: queues.map((changes, rank) => ({
      ...line(
        `rank ${rank}`,
        changes.map(([atNs, length]): [number, number] => [atNs / 1e6, length]),
      ),
      step: "end" as const,
      showSymbol: false,
    })),
  });
}
