import type { Command } from "commander";
import { findRoot, inCloneOnly } from "../peers/native-programs.js";
import { hasPackagedGpuPrograms } from "../perf/find-programs.js";
import { addBenchCollectivesCommand } from "./bench-collectives.js";
import { addBenchInterpreterCommand } from "./bench-interpreter.js";
import { addBenchLoaderCommand } from "./bench-loader.js";
import { addBenchMpiCommand } from "./bench-mpi.js";
import { addOverheadsCommand } from "./bench-overheads.js";
import { addBenchProgramsCommand } from "./bench-programs.js";
import { addBenchSchedulesCommand } from "./bench-schedules.js";

const examples: Readonly<Record<string, string>> = {
  mpi: "mpi --quick          all-reduce beside OpenMPI's",
  collectives: "collectives          every collective beside OpenMPI's",
  overheads: "overheads --quick    what queues and scheduling add",
  interpreter: "interpreter          a compiled ring beside a hand-written one",
  programs: "programs ring.ts     programs of your own beside built-in ones",
  schedules: "schedules            beside schedules that need an order",
  loader: "loader               hand-offs beside a mutex queue",
};

export function addBenchCommand(program: Command): void {
  const isClone = findRoot() !== undefined;
  const bench = program
    .command("bench")
    .summary("measure the engine beside its peers, and programs beside each other")
    .description("Measures the engine beside its peers.");
  addBenchProgramsCommand(bench);
  addBenchSchedulesCommand(bench);
  addBenchLoaderCommand(bench);
  if (!isClone && hasPackagedGpuPrograms()) addBenchCollectivesCommand(bench);
  if (isClone) {
    bench.commandsGroup(`${inCloneOnly}:`);
    addBenchMpiCommand(bench);
    addBenchCollectivesCommand(bench);
    addOverheadsCommand(bench);
    addBenchInterpreterCommand(bench);
  }
  const lines = bench.commands.flatMap((command) => examples[command.name()] ?? []);
  bench.addHelpText("after", `\nExamples:\n${lines.map((line) => `  $ dfccl bench ${line}`).join("\n")}`);
}
