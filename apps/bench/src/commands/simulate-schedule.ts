import { type Command, Option } from "commander";
import type { SimulateScheduleFlags } from "../simulate/run-schedule.js";
import { schedulePresetNames } from "../simulate/schedule-preset-names.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { addDrawingOptions } from "./drawing-options.js";
import { refuseIdle, requireFileOrPreset, wholeNumber } from "./options.js";

export function addSimulateScheduleCommand(simulate: Command): void {
  const command = simulate
    .command("schedule")
    .argument("[workload.json]", "ranks, links, collectives and when they are submitted")
    .summary("how daemons schedule collectives, event by event")
    .description(
      "Simulates daemons with the very policies that the engine runs: submissions, spin thresholds, context switches, task " +
        "queues and quits, over links with a latency and a bandwidth.",
    )
    .addOption(new Option("--preset <name>", "a figure instead of a workload").choices(schedulePresetNames))
    .option("--seed <n>", "seed of everything random", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("--gpus <n>", "most GPUs, with --preset scale", wholeNumber(8, 100_000), 8000)
    .option("--measured <file.json>", "what npm run bench:mpi -- --json FILE wrote in a clone, with --preset calibrate");
  addDrawingOptions(command)
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
  $ dfccl simulate schedule --preset late-rank --report late-rank.html
  $ dfccl simulate schedule --preset scale --gpus 80000 --json

${exitCodesText({ 0: "everything completed", 1: "something did not: a deadlock, as with the policy in-order", 2: "usage" }, "of --preset scale, what was finished is printed, as partial")}`,
    )
    .action(async (path: string | undefined, flags: SimulateScheduleFlags) => {
      requireFileOrPreset(command, "a workload file", path, flags.preset);
      if (flags.preset === "calibrate" && flags.measured === undefined) command.error("Give what was measured with --measured.");
      if (flags.preset !== "scale") refuseIdle(command, ["gpus"], "is for --preset scale");
      if (flags.preset !== "calibrate") refuseIdle(command, ["measured"], "is for --preset calibrate");
      // Loaded late, because the simulator takes a while to load.
      const { simulateSchedulePreset, simulateWorkload } = await import("../simulate/run-schedule.js");
      if (flags.preset !== undefined) process.exitCode = await simulateSchedulePreset(flags.preset, flags);
      else if (path !== undefined) process.exitCode = await simulateWorkload(path, flags);
    });
}
