import type { Command } from "commander";
import { addBenchCollectivesCommand } from "./bench-collectives.js";
import { addBenchInterpreterCommand } from "./bench-interpreter.js";
import { addBenchLoaderCommand } from "./bench-loader.js";
import { addBenchMpiCommand } from "./bench-mpi.js";
import { addOverheadsCommand } from "./bench-overheads.js";
import { addBenchProgramsCommand } from "./bench-programs.js";
import { addBenchSchedulesCommand } from "./bench-schedules.js";

export function addBenchCommand(program: Command): void {
  const bench = program
    .command("bench")
    .summary("measure the engine beside its peers, and programs beside each other")
    .description(
      "Measures the engine beside its peers. All but programs and loader need a clone of the repository: what measures them is built on demand.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl bench mpi --quick          all-reduce beside OpenMPI's
  $ dfccl bench collectives          every collective beside OpenMPI's
  $ dfccl bench overheads --quick    what queues and scheduling add
  $ dfccl bench interpreter          a compiled ring beside a hand-written one
  $ dfccl bench programs ring.ts     programs of your own beside built-in ones
  $ dfccl bench schedules            beside schedules that need an order
  $ dfccl bench loader               hand-offs beside a mutex queue`,
    );
  addBenchMpiCommand(bench);
  addBenchCollectivesCommand(bench);
  addOverheadsCommand(bench);
  addBenchInterpreterCommand(bench);
  addBenchProgramsCommand(bench);
  addBenchSchedulesCommand(bench);
  addBenchLoaderCommand(bench);
}
