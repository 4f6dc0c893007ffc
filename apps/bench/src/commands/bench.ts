import type { Command } from "commander";
import { addBenchCollectivesCommand } from "./bench-collectives.js";
import { addBenchLoaderCommand } from "./bench-loader.js";
import { addBenchProgramsCommand } from "./bench-programs.js";
import { addBenchSchedulesCommand } from "./bench-schedules.js";

const examples = `
Examples:
  $ dfccl bench collectives          every collective beside OpenMPI's
  $ dfccl bench programs ring.ts     programs of your own beside built-in ones
  $ dfccl bench schedules            beside schedules that need an order
  $ dfccl bench loader               hand-offs beside a mutex queue`;

export function addBenchCommand(program: Command): void {
  const bench = program
    .command("bench")
    .summary("measure the engine beside its peers, and programs beside each other")
    .description("Measures the engine beside its peers.")
    .addHelpText("after", examples);
  addBenchCollectivesCommand(bench);
  addBenchProgramsCommand(bench);
  addBenchSchedulesCommand(bench);
  addBenchLoaderCommand(bench);
}
