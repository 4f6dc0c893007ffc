import { readFileSync, writeFileSync } from "node:fs";
import {
  type DeadlockConfig,
  type DeadlockResult,
  deadlockSvg,
  explainDeadlock,
  explanationText,
  parseDeadlockConfig,
  SimulationConfigError,
  simulateDeadlocks,
  simulateTable,
  type TableRow,
} from "@dfccl/simulator";
import { type Command, Option } from "commander";
import { describeEstimate } from "../simulate/deadlock-report.js";
import { describeTable } from "../simulate/table-report.js";
import { out } from "../terminal/colors.js";
import { watchForInterruption } from "../terminal/interruption.js";
import { withProgress } from "../terminal/progress.js";
import { formatCount, formatCountOf, formatSeconds } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { outputFile, wholeNumber } from "./options.js";

interface SimulateDeadlockFlags {
  readonly preset?: "table1";
  readonly rounds: number;
  readonly seed: number;
  readonly workers?: number;
  readonly draws: number;
  readonly shortcut: number;
  readonly replays: number;
  readonly explain?: string;
  readonly json?: boolean;
}

const progressSteps = 1000;

export function addSimulateDeadlockCommand(simulate: Command): void {
  simulate
    .command("deadlock")
    .argument("[config.json]", "GPUs, groups, model and probabilities")
    .summary("how often collectives deadlock that GPUs submit in slightly different orders")
    .description(
      "Counts rounds in which collectives deadlock without preemption, because GPUs sometimes leave the common order or " +
        "synchronize (DFCCL, section 2.4), and runs what deadlocked again on daemons that preempt. A deadlock is a cycle in the " +
        "dependency graph.",
    )
    .addOption(new Option("--preset <name>", "the paper's Table 1 instead of a configuration").choices(["table1"]))
    .option("-r, --rounds <n>", "rounds", wholeNumber(1, 1e9), 32_000)
    .option("--seed <n>", "seed of everything random", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("--workers <n>", "threads; the result is the same for any number (default: all cores)", wholeNumber(0, 256))
    .option("--draws <n>", "how often to draw the groups that the paper doesn't list, with --preset", wholeNumber(1, 100), 4)
    .option("--shortcut <n>", "in so many rounds, also count what the public code's shortcut reports (slow)", wholeNumber(0, 1e6), 400)
    .option("--replays <n>", "deadlocks to run again on daemons, at most", wholeNumber(0, 1e6), 20)
    .option("--explain <file.svg>", "draw the first deadlock", outputFile)
    .option("--json", "print one JSON object instead of text")
    .addHelpText(
      "after",
      `
A configuration:
  {"model": "synchronization",
   "grouping": {"policy": "3d", "tp": 4, "dp": 4, "pp": 4,
     "collectivesPerTpGroup": 400, "collectivesPerDpGroup": 1200},
   "disorderProbability": 0.004, "synchronizationProbability": 0.004}
or, without synchronizations, and with groups of one's own:
  {"model": "single-queue",
   "grouping": {"policy": "free", "gpus": 3, "groups": [
     {"gpus": [0, 1], "collectives": 50}, {"gpus": [1, 2], "collectives": 9}]},
   "disorderProbability": 1e-4}

Examples:
  $ dfccl simulate deadlock mine.json --explain deadlock.svg
  $ dfccl simulate deadlock --preset table1
  $ dfccl simulate deadlock --preset table1 --rounds 2000 --json

Exit codes:
  0    simulated, and everything that deadlocked completes with preemption
  1    something did not complete
  2    usage
  130  interrupted; the rounds finished by then are printed, as partial`,
    )
    .action(async (path: string | undefined, flags: SimulateDeadlockFlags, command: Command) => {
      if ((path === undefined) === (flags.preset === undefined)) command.error("Give a configuration file or --preset table1.");
      if (path === undefined && flags.explain !== undefined) command.error("--explain draws the deadlock of a configuration file.");
      process.exitCode = path === undefined ? await simulatePreset(flags) : await simulateFile(path, flags);
    });
}

async function simulateFile(path: string, flags: SimulateDeadlockFlags): Promise<number> {
  const config = loadConfig(path);
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
  const explanation = result.firstDeadlock === undefined ? undefined : explainDeadlock(config, flags.seed, result.firstDeadlock);
  if (explanation !== undefined && flags.explain !== undefined) writeFileSync(flags.explain, deadlockSvg(explanation));

  if (flags.json) {
    say(JSON.stringify({ rows: [{ ...result, explanation: explanation ?? null }], seconds, partial: result.partial }));
  } else {
    const size = `${formatCountOf(result.gpus, "GPU")}, ${formatCountOf(result.groups, "group")}, ${formatCount(result.submissions)} submissions a round`;
    say(`${out.bold(config.name ?? path)}: ${config.model} model, ${size}\n`);
    if (result.partial)
      say(out.yellow(`Interrupted: a partial result, of ${formatCount(result.rounds)} of ${formatCount(flags.rounds)} rounds.`));
    say(describeEstimate(result));
    say(`  ${"time".padEnd(34)}${formatSeconds(seconds)}\n`);
    if (explanation !== undefined) say(wrap(explanationText(explanation)));
    if (explanation !== undefined && flags.explain !== undefined) say(`Drawn in ${flags.explain}.`);
    if (explanation === undefined && flags.explain !== undefined) say(`No round deadlocked, so ${flags.explain} was not written.`);
  }
  return exitCode([result], interruption.exitCode());
}

async function simulatePreset(flags: SimulateDeadlockFlags): Promise<number> {
  using interruption = watchForInterruption();
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
  if (flags.json) {
    say(JSON.stringify({ rows, rounds: flags.rounds, seed: flags.seed, seconds, partial }));
  } else {
    say(describeTable(rows));
    if (partial) say(out.yellow(wrap(`Interrupted: a partial result, of ${formatCountOf(rows.length, "row")}.`)));
    say(`  ${formatCount(flags.rounds)} rounds a row, seed ${flags.seed}, ${formatSeconds(seconds)}`);
  }
  return exitCode(rows, interruption.exitCode());
}

function options({ rounds, seed, workers, shortcut, replays }: SimulateDeadlockFlags) {
  return { rounds, seed, shortcutRounds: shortcut, replays, ...(workers === undefined ? {} : { workers }) };
}

function exitCode(results: readonly (DeadlockResult | TableRow)[], interrupted: number | undefined): number {
  if (interrupted !== undefined) return interrupted;
  const isSafe = results.every(({ replays: { "preemption and quit": both } }) => both.finished === both.replayed);
  return isSafe ? 0 : 1;
}

/** @throws {SimulationConfigError} */
function loadConfig(path: string): DeadlockConfig {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new SimulationConfigError(
      path,
      [{ key: "the file", value: path, problem: `can't be read as JSON (${(error as Error).message})` }],
      error,
    );
  }
  return parseDeadlockConfig(value, path);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
