import {
  type DeadlockExplanation,
  type DeadlockResult,
  deadlockSvg,
  deadlockTimeline,
  explainDeadlock,
  explanationText,
  parseDeadlockConfig,
  simulateDeadlocks,
  simulateFigures,
  simulateTable,
  type TableRow,
} from "@dfccl/simulator";
import type { ReportSection } from "../charts/html-report.js";
import { drawTimeline } from "../drawing/draw-timeline.js";
import { writeOutput } from "../outputs/write-output.js";
import { out } from "../terminal/colors.js";
import { type Interruption, watchForInterruption } from "../terminal/interruption.js";
import { withProgress } from "../terminal/progress.js";
import { say } from "../terminal/say.js";
import { formatCount, formatCountOf, formatSeconds } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { figureChart, tableChart } from "./deadlock-charts.js";
import type { DeadlockPresetName } from "./deadlock-preset-names.js";
import { describeEstimate, estimateRows } from "./deadlock-report.js";
import { describeFigures, figureTable } from "./figures-report.js";
import { readJson } from "./read-json.js";
import { describeTable, tableNotes, tableOf } from "./table-report.js";
import { type DrawingFlags, writeDrawings } from "./write-report.js";

export interface SimulateDeadlockFlags extends DrawingFlags {
  readonly preset?: DeadlockPresetName;
  readonly rounds: number;
  readonly seed: number;
  readonly workers?: number;
  readonly draws: number;
  readonly shortcut: number;
  readonly replays: number;
  readonly whole: number;
  readonly explain?: string;
  readonly json?: boolean;
}

const progressSteps = 1000;

/** @returns the exit code. */
export async function simulateConfig(path: string, flags: SimulateDeadlockFlags): Promise<number> {
  const config = parseDeadlockConfig(readJson(path), path);
  using interruption = watchForInterruption();
  const started = performance.now();
  const result = await withProgress("Rounds", progressSteps, (progress) =>
    simulateDeadlocks(config, {
      ...options(flags),
      signal: interruption.signal,
      onProgress: (share) => progress.update(Math.round(share * progressSteps)),
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const first = result.firstDeadlock;
  const explanation = first === undefined ? undefined : explainDeadlock(config, flags.seed, first);
  const timeline = first === undefined ? undefined : drawTimeline(deadlockTimeline(config, flags.seed, first));
  if (explanation !== undefined && flags.explain !== undefined) writeOutput(flags.explain, deadlockSvg(explanation));
  const name = config.name ?? path;
  const written = await writeDrawings(
    flags,
    {
      title: `Deadlocks of ${name}`,
      lead: `${config.model} model, ${sizeOf(result)}.${result.partial ? " Interrupted: a partial result." : ""}`,
      sections: [
        { heading: "How often", table: { header: ["what", "value"], rows: estimateRows(result) } },
        ...sectionsOf(explanation, timeline),
      ],
      madeBy: `dfccl simulate deadlock ${path} --rounds ${flags.rounds} --seed ${flags.seed}`,
    },
    timeline === undefined ? [] : [{ name: "timeline", svg: timeline }],
  );

  if (flags.json) {
    say(JSON.stringify({ rows: [{ ...result, explanation: explanation ?? null }], seconds, partial: result.partial }));
  } else {
    say(`${out.bold(name)}: ${config.model} model, ${sizeOf(result)}\n`);
    if (result.partial)
      say(out.yellow(`Interrupted: a partial result, of ${formatCount(result.rounds)} of ${formatCount(flags.rounds)} rounds.`));
    say(describeEstimate(result));
    say(`  ${"time".padEnd(34)}${formatSeconds(seconds)}\n`);
    if (explanation !== undefined) say(wrap(explanationText(explanation)));
    if (explanation !== undefined && flags.explain !== undefined) say(`Drawn in ${flags.explain}.`);
    if (explanation === undefined && flags.explain !== undefined) say(`No round deadlocked, so ${flags.explain} was not written.`);
    sayWritten(written);
  }
  return exitCode([result], interruption.exitCode());
}

/** @returns the exit code. */
export async function simulateDeadlockPreset(preset: DeadlockPresetName, flags: SimulateDeadlockFlags): Promise<number> {
  using interruption = watchForInterruption();
  return preset === "table1" ? await simulateTable1(flags, interruption) : await simulateCurves(flags, interruption);
}

async function simulateTable1(flags: SimulateDeadlockFlags, interruption: Interruption): Promise<number> {
  const started = performance.now();
  const rows = await withProgress("Table 1", progressSteps, (progress) => {
    let note = "";
    return simulateTable({
      ...options(flags),
      draws: flags.draws,
      signal: interruption.signal,
      onProgress: (share) => progress.update(Math.round(share * progressSteps), note),
      onRow: (row) => {
        note = `${row.name} done`;
      },
    });
  });
  const seconds = (performance.now() - started) / 1000;
  const partial = interruption.signal.aborted;
  const written = await writeDrawings(flags, {
    title: "How often collectives deadlock: DFCCL's Table 1 beside ours",
    lead: `${formatCount(flags.rounds)} rounds a row.${partial ? " Interrupted: a partial result." : ""} ${tableNotes}`,
    sections: [
      { heading: "Ratios", table: tableOf(rows) },
      { heading: "Paper and simulation", chart: tableChart(rows) },
    ],
    madeBy: madeBy(flags),
  });
  if (flags.json) {
    say(JSON.stringify({ rows, rounds: flags.rounds, seed: flags.seed, seconds, partial }));
  } else {
    say(describeTable(rows));
    if (partial) say(out.yellow(wrap(`Interrupted: a partial result, of ${formatCountOf(rows.length, "row")}.`)));
    say(`  ${formatCount(flags.rounds)} rounds a row, seed ${flags.seed}, ${formatSeconds(seconds)}`);
    sayWritten(written);
  }
  return exitCode(rows, interruption.exitCode());
}

async function simulateCurves(flags: SimulateDeadlockFlags, interruption: Interruption): Promise<number> {
  const started = performance.now();
  const figures = await withProgress("Curves", progressSteps, (progress) =>
    simulateFigures({
      ...options(flags),
      signal: interruption.signal,
      onProgress: (share) => progress.update(Math.round(share * progressSteps)),
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const partial = interruption.signal.aborted;
  const names = ["ratio-one-queue", "ratio-probabilities", "ratio-gpus", "ratio-collectives"];
  const written = await writeDrawings(flags, {
    title: "What the deadlock ratio depends on",
    lead: `${formatCount(flags.rounds)} rounds a point, the paper's points beside ours.${partial ? " Interrupted: a partial result." : ""}`,
    sections: figures.map((figure, i) => ({
      heading: figure.title,
      chart: figureChart(figure, names[i] ?? `ratio-${i}`),
      table: figureTable(figure),
    })),
    madeBy: madeBy(flags),
  });
  if (flags.json) {
    say(JSON.stringify({ rows: figures, rounds: flags.rounds, seed: flags.seed, seconds, partial }));
  } else {
    say(describeFigures(figures));
    if (partial) say(out.yellow("Interrupted: a partial result."));
    say(`  ${formatCount(flags.rounds)} rounds a point, seed ${flags.seed}, ${formatSeconds(seconds)}`);
    sayWritten(written);
  }
  return interruption.exitCode() ?? 0;
}

function sectionsOf(explanation: DeadlockExplanation | undefined, timeline: string | undefined): ReportSection[] {
  return [
    ...(timeline === undefined ? [] : [{ heading: "The first deadlock over time", svg: timeline }]),
    ...(explanation === undefined
      ? []
      : [{ heading: "What waits for what", text: explanationText(explanation), svg: deadlockSvg(explanation) }]),
  ];
}

function sizeOf({ gpus, groups, submissions }: DeadlockResult): string {
  return `${formatCountOf(gpus, "GPU")}, ${formatCountOf(groups, "group")}, ${formatCount(submissions)} submissions a round`;
}

function madeBy({ preset, rounds, seed }: SimulateDeadlockFlags): string {
  return `dfccl simulate deadlock --preset ${preset} --rounds ${rounds} --seed ${seed}`;
}

function options({ rounds, seed, workers, shortcut, replays, whole }: SimulateDeadlockFlags) {
  return { rounds, seed, shortcutRounds: shortcut, replays, wholeReplays: whole, ...(workers === undefined ? {} : { workers }) };
}

function exitCode(results: readonly (DeadlockResult | TableRow)[], interrupted: number | undefined): number {
  if (interrupted !== undefined) return interrupted;
  const isSafe = results.every(({ replays, whole }) =>
    [replays, whole.deadlocked, whole.calm].every(({ "preemption and quit": both }) => both.finished === both.replayed),
  );
  return isSafe ? 0 : 1;
}

function sayWritten(paths: readonly string[]): void {
  for (const path of paths) say(`Drawn in ${path}.`);
}
