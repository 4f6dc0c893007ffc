import { type Command, Option } from "commander";
import { deadlockPresetNames } from "../simulate/deadlock-preset-names.js";
import type { SimulateDeadlockFlags } from "../simulate/run-deadlock.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { addDrawingOptions } from "./drawing-options.js";
import { outputFileOf, refuseIdle, requireFileOrPreset, wholeNumber } from "./options.js";

export function addSimulateDeadlockCommand(simulate: Command): void {
  const command = simulate
    .command("deadlock")
    .argument("[config.json]", "GPUs, groups, model and probabilities")
    .summary("how often collectives deadlock that GPUs submit in slightly different orders")
    .description(
      "Counts rounds in which collectives deadlock without preemption, because GPUs sometimes leave the common order or " +
        "synchronize (DFCCL, section 2.4), and runs what deadlocked again on daemons that preempt. A deadlock is a cycle in the " +
        "dependency graph.",
    )
    .addOption(
      new Option("--preset <name>", "the paper's Table 1 or curves through it, instead of a configuration").choices(deadlockPresetNames),
    )
    .option("-r, --rounds <n>", "rounds", wholeNumber(1, 1e9), 32_000)
    .option("--seed <n>", "seed of everything random", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("--workers <n>", "threads; the result is the same for any number (default: all cores)", wholeNumber(0, 256))
    .option("--draws <n>", "how often to draw the groups that the paper doesn't list, with --preset table1", wholeNumber(1, 100), 4)
    .option("--shortcut <n>", "in so many rounds, also count what the public code's shortcut reports (slow)", wholeNumber(0, 1e6), 400)
    .option("--replays <n>", "deadlocks to run again on daemons, at most", wholeNumber(0, 1e6), 20)
    .option(
      "--whole <n>",
      "rounds to run again on daemons with all that GPUs do: so many deadlocked, so many others",
      wholeNumber(0, 1e4),
      1,
    )
    .option("--explain <file.svg>", "draw the first deadlock", outputFileOf(".svg"));
  addDrawingOptions(command, "write each chart as an SVG file; of a configuration, the timeline of its first deadlock")
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
  $ dfccl simulate deadlock --preset table1 --report table1.html
  $ dfccl simulate deadlock --preset figures --svg charts
  $ dfccl simulate deadlock --preset table1 --rounds 2000 --json

${exitCodesText({ 0: "simulated, and everything that deadlocked completes with preemption", 1: "something did not complete", 2: "usage" }, "the rounds finished by then are printed, as partial")}`,
    )
    .action(async (path: string | undefined, flags: SimulateDeadlockFlags) => {
      requireFileOrPreset(command, "a configuration file", path, flags.preset);
      if (path === undefined && flags.explain !== undefined) command.error("--explain draws the deadlock of a configuration file.");
      if (flags.preset !== "table1") refuseIdle(command, ["draws"], "is for --preset table1");
      if (flags.preset === "figures")
        refuseIdle(command, ["shortcut", "replays", "whole"], "isn't for --preset figures, which counts only");
      // Loaded late, because the simulator takes a while to load.
      const { simulateDeadlockPreset, simulateConfig } = await import("../simulate/run-deadlock.js");
      if (flags.preset !== undefined) process.exitCode = await simulateDeadlockPreset(flags.preset, flags);
      else if (path !== undefined) process.exitCode = await simulateConfig(path, flags);
    });
}
