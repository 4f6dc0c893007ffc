import type { Command } from "commander";
import { addBenchMpiCommand } from "./bench-mpi.js";
import { addBenchOverheadsCommand } from "./bench-overheads.js";

export function addBenchCommand(program: Command): void {
  const bench = program
    .command("bench")
    .summary("measure the engine beside its peers, in a clone of the repository")
    .description("Measures the engine beside its peers. Needs a clone of the repository: the programs that measure are built on demand.")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl bench mpi --quick          all-reduce beside OpenMPI's
  $ dfccl bench overheads --quick    what queues and scheduling add`,
    );
  addBenchMpiCommand(bench);
  addBenchOverheadsCommand(bench);
}
