import { readFileSync, writeFileSync } from "node:fs";
import { parseScheduleWorkload, SimulationConfigError, scenarioOf, simulateSchedule } from "@dfccl/simulator";
import { type Command, Option } from "commander";
import { describeRun, type PresetName, presetNames, runPreset } from "../simulate/schedule-report.js";
import { outputFile, wholeNumber } from "./options.js";

interface SimulateScheduleFlags {
  readonly preset?: PresetName;
  readonly seed: number;
  readonly gpus: number;
  readonly measured?: string;
  readonly chart?: string;
  readonly json?: boolean;
}

export function addSimulateScheduleCommand(simulate: Command): void {
  simulate
    .command("schedule")
    .argument("[workload.json]", "ranks, links, collectives and when they are submitted")
    .summary("how daemons schedule collectives, event by event")
    .description(
      "Simulates daemons with the very policies that the engine runs: submissions, spin thresholds, context switches, task " +
        "queues and quits, over links with a latency and a bandwidth.",
    )
    .addOption(new Option("--preset <name>", "a figure instead of a workload").choices(presetNames))
    .option("--seed <n>", "seed of everything random", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("--gpus <n>", "most GPUs, with --preset scale", wholeNumber(8, 100_000), 8000)
    .option("--measured <file.json>", "what dfccl bench mpi --json wrote, with --preset calibrate")
    .option("--chart <file.svg>", "draw the figure, with --preset late-rank or valley", outputFile)
    .option("--json", "print one JSON object instead of text")
    .addHelpText(
      "after",
      `
Presets:
  late-rank   one of four ranks is late: fixed thresholds against adaptive ones
  valley      time over the spin threshold, for three costs of a switch
  priority    what priorities gain between backward and forward pass
  orderings   coordinators, fixed orders and preemption on one workload
  scale       8 to 100,000 GPUs: events, time and memory of the simulation
  calibrate   measured all-reduces, half of them fitted, half predicted

A workload:
  {"ranks": 8, "policy": "adaptive",
   "topology": {"ranksPerIsland": 8,
     "island": {"alphaNs": 700, "gigabytesPerSecond": 350},
     "network": {"alphaNs": 5000, "gigabytesPerSecond": 25}},
   "collectives": [{"bytes": 1000000, "atNs": 0},
                   {"bytes": 8, "atNs": 500, "priority": 2}],
   "disorderProbability": 0.1, "synchronizationProbability": 0.01,
   "late": [{"rank": 2, "byNs": 1000000}]}

Examples:
  $ dfccl simulate schedule mine.json
  $ dfccl simulate schedule --preset late-rank
  $ dfccl simulate schedule --preset scale --gpus 80000 --json

Exit codes:
  0    everything completed
  1    something did not: a deadlock, as with the policy in-order
  2    usage`,
    )
    .action(async (path: string | undefined, flags: SimulateScheduleFlags, command: Command) => {
      if ((path === undefined) === (flags.preset === undefined)) command.error("Give a workload file or --preset.");
      if (flags.preset === "calibrate" && flags.measured === undefined) command.error("Give what was measured with --measured.");
      if (flags.chart !== undefined && flags.preset !== "late-rank" && flags.preset !== "valley") {
        command.error("--chart draws --preset late-rank and --preset valley.");
      }
      process.exitCode = path === undefined ? await simulatePreset(flags) : simulateFile(path, flags);
    });
}

function simulateFile(path: string, flags: SimulateScheduleFlags): number {
  const workload = parseScheduleWorkload(readJson(path), path);
  const result = simulateSchedule(scenarioOf(workload, flags.seed));
  say(flags.json ? JSON.stringify({ workload: path, seed: flags.seed, ...result }) : describeRun(workload, result));
  return result.finished ? 0 : 1;
}

async function simulatePreset({ preset, seed, gpus, measured, chart, json }: SimulateScheduleFlags): Promise<number> {
  if (preset === undefined) return 0;
  const report = runPreset(preset, { seed, gpus, readMeasured: () => readJson(measured ?? "") });
  if (chart !== undefined && report.chart !== undefined) writeFileSync(chart, await report.chart());
  say(json ? JSON.stringify({ preset, seed, rows: report.rows }) : report.text);
  return 0;
}

/** @throws {SimulationConfigError} */
function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const problem = `can't be read as JSON (${(error as Error).message})`;
    throw new SimulationConfigError(path, [{ key: "the file", value: path, problem }], error);
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
