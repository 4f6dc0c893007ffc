import { collectiveNames, isCollectiveName } from "@dfccl/collective-tests";
import type { Command } from "commander";
import { perfMain } from "../perf/main.js";
import { exitCodesText } from "../terminal/exit-codes.js";

const ends = {
  0: "ran, and every result is right",
  1: "failed, or a rank died",
  2: "CUDA failed",
  3: "NCCL failed",
  4: "a wait took longer than --timeout",
  5: "a backend is not there, or does not do what was asked of it",
  6: "invalid usage",
  7: "a result was wrong, or too slow for NCCL_TESTS_MIN_BW",
  255: "bad arguments",
};

export function addPerfCommand(program: Command): void {
  program
    .command("perf")
    .summary("nccl-tests' programs, for every backend side by side")
    .description(
      "Runs one of nccl-tests' programs, with its options, output and exit codes. The same programs are installed as all_reduce_perf and so on.",
    )
    .argument("<name>", `one of ${collectiveNames.join(", ")}; _perf may follow`)
    .argument("[options...]", "nccl-tests' options, and --backend, --order, --concurrent, --delay; -h after the name lists all")
    .passThroughOptions()
    .allowUnknownOption()
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl perf all_reduce -b 8 -e 64M -f 4 -g 4
  $ dfccl perf alltoall -b 4K -e 4M -f 4 -g 4 --backend cpu,mpi -J alltoall.json
  $ dfccl perf all_reduce -g 4 --concurrent 16 --order random --delay 1:500

${exitCodesText(ends)}`,
    )
    .action(async (name: string, args: string[], _, command: Command) => {
      const collective = name.replace(/_perf$/, "");
      if (!isCollectiveName(collective)) command.error(`There is no program "${name}". There are: ${collectiveNames.join(", ")}.`);
      else process.exitCode = await perfMain(collective, args);
    });
}
