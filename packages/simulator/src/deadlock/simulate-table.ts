import { checkFunction, checkInteger, checkList, checkObject, checkOptions, type OptionNames, readPlain } from "@dfccl/primitives";
import { type ChunkRunner, startRunner } from "./chunk-runner.js";
import { type ListOrder, submissionsOf } from "./config.js";
import { mostRounds } from "./find-deadlock.js";
import { confidenceInterval } from "./interval.js";
import { addTallies, emptyTallies, type ReplayTallies } from "./replay-deadlock.js";
import { addWholeReplays, emptyWholeReplays, type WholeReplays } from "./simulate-chunk.js";
import {
  checkDeadlockOptions,
  type DeadlockOptions,
  type DeadlockResult,
  deadlockOptionNames,
  type RatioEstimate,
  simulateOn,
} from "./simulate-deadlocks.js";
import { type PublishedCount, type Table1Row, table1 } from "./table1.js";

/** Ratio of a row, over all its draws. */
export interface RowEstimate extends RatioEstimate {
  /** Least and largest ratio of a draw, where there are several. */
  readonly spread?: readonly [number, number];
}

/** A row of the table beside ours. */
export interface TableRow {
  readonly name: string;
  readonly model: Table1Row["model"];
  readonly gpus: number;
  readonly groups: number;
  readonly collectives: string;
  readonly disorderProbability: number;
  readonly synchronizationProbability: number;
  readonly paper: number | null;
  readonly authors: PublishedCount | null;
  readonly draws: number;
  /** The dependency graph has a cycle, by order of the lists. */
  readonly cycle: Readonly<Record<ListOrder, RowEstimate>>;
  /** What the public code's shortcut reports, lists round-robin as in that code; null in the single-queue model. */
  readonly shortcut: RowEstimate | null;
  readonly replays: ReplayTallies;
  readonly whole: WholeReplays;
  readonly partial: boolean;
}

export interface TableOptions extends DeadlockOptions {
  /** Of the rows whose groups aren't published. Each draw gets all rounds. */
  readonly draws: number;
  /** Rows, all if not given. */
  readonly rows?: readonly Table1Row[];
  readonly onRow?: (row: TableRow, index: number) => void;
}

const optionNames: OptionNames<TableOptions> = { ...deadlockOptionNames, draws: true, rows: true, onRow: true };

// Submissions.
const longestShortcutRound = 250_000;
const listOrders: readonly ListOrder[] = ["round-robin", "concatenated"];

/**
 * The paper's Table 1, row by row, with both orders of the lists. An interruption ends it with a row that is partial.
 * @throws {InvalidArgumentError}, UnknownOptionError
 */
export async function simulateTable(options: TableOptions): Promise<readonly TableRow[]> {
  checkOptions("options", options, optionNames, "an object such as { rounds: 1000, seed: 1, draws: 10 }");
  checkDeadlockOptions(options);
  checkInteger("draws", options.draws, 1, mostRounds);
  if (options.onRow !== undefined) checkFunction("onRow", options.onRow, "a function of a row");
  const rows = options.rows === undefined ? table1 : readRows(options.rows);
  await using runner = startRunner(options.workers);
  const finished: TableRow[] = [];
  for (const [index, row] of rows.entries()) {
    if (options.signal?.aborted) break;
    const result = await simulateRow(runner, row, {
      ...options,
      onProgress: (share) => options.onProgress?.((index + share) / rows.length),
    });
    if (result === undefined) break;
    finished.push(result);
    options.onRow?.(result, index);
  }
  return finished;
}

function readRows(given: readonly Table1Row[]): readonly Table1Row[] {
  checkList("rows", given, "some of table1");
  const rows = readPlain("rows", given);
  for (const [index, row] of rows.entries()) {
    checkObject(`rows[${index}]`, row, "one of table1");
    checkFunction(`rows[${index}].configuration`, row.configuration, "that of a row of table1");
  }
  return rows;
}

async function simulateRow(runner: ChunkRunner, row: Table1Row, options: TableOptions): Promise<TableRow | undefined> {
  const draws = row.isDrawn ? options.draws : 1;
  // Every action of these rounds is simulated: fewer of them where they are long, and a row's are spread over its draws.
  const length = submissionsOf(row.configuration("round-robin", 0, options.seed));
  const shortcutShare = Math.min(1, longestShortcutRound / length) / draws;
  const results: Record<ListOrder, DeadlockResult[]> = { "round-robin": [], concatenated: [] };
  let done = 0;
  for (const listOrder of listOrders) {
    for (let draw = 0; draw < draws; draw += 1) {
      const shortcutRounds = listOrder === "round-robin" ? Math.ceil((options.shortcutRounds ?? 0) * shortcutShare) : 0;
      const result = await simulateOn(runner, row.configuration(listOrder, draw, options.seed), {
        ...options,
        shortcutRounds,
        replays: Math.ceil((options.replays ?? 0) / draws),
        // A large component takes seconds.
        wholeReplays: draw === 0 ? (options.wholeReplays ?? 0) : 0,
        onProgress: (share) => options.onProgress?.((done + share) / (listOrders.length * draws)),
      });
      done += 1;
      results[listOrder].push(result);
      if (result.partial) return results["round-robin"].some(({ rounds }) => rounds > 0) ? summary(row, results, true) : undefined;
    }
  }
  return summary(row, results, false);
}

function summary(row: Table1Row, results: Readonly<Record<ListOrder, readonly DeadlockResult[]>>, partial: boolean): TableRow {
  const [first] = results["round-robin"];
  const shortcuts = results["round-robin"].flatMap(({ shortcut }) => shortcut ?? []);
  const [replays, whole] = [emptyTallies(), emptyWholeReplays()];
  for (const result of listOrders.flatMap((listOrder) => results[listOrder])) {
    addTallies(replays, result.replays);
    addWholeReplays(whole, result.whole);
  }
  return {
    name: row.name,
    model: row.model,
    gpus: first?.gpus ?? 0,
    groups: first?.groups ?? 0,
    collectives: row.collectives,
    disorderProbability: row.disorderProbability,
    synchronizationProbability: row.synchronizationProbability,
    paper: row.paper ?? null,
    authors: row.authors ?? null,
    draws: results["round-robin"].length,
    cycle: { "round-robin": pooled(results["round-robin"]), concatenated: pooled(results.concatenated) },
    shortcut: shortcuts.length === 0 ? null : pooled(shortcuts),
    replays,
    whole,
    partial,
  };
}

function pooled(estimates: readonly RatioEstimate[]): RowEstimate {
  const rounds = estimates.reduce((sum, estimate) => sum + estimate.rounds, 0);
  const deadlocks = estimates.reduce((sum, estimate) => sum + estimate.deadlocks, 0);
  const ratios = estimates.map(({ ratio }) => ratio);
  return {
    rounds,
    deadlocks,
    ratio: rounds === 0 ? 0 : deadlocks / rounds,
    interval: confidenceInterval(deadlocks, rounds),
    ...(estimates.length > 1 ? { spread: [Math.min(...ratios), Math.max(...ratios)] as const } : {}),
  };
}
