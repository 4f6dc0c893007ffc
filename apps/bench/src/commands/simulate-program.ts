import { type Command, Option } from "commander";
import { programPresetNames } from "../simulate/program-preset-names.js";
import type { SimulateProgramFlags } from "../simulate/run-program.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { addDrawingOptions } from "./drawing-options.js";
import { byteSize, refuseIdle, requireFileOrPreset, sizesOption, wholeNumber } from "./options.js";
import { addProgramChoices, programFile } from "./program-options.js";

export function addSimulateProgramCommand(simulate: Command): void {
  const command = simulate
    .command("program")
    .argument("[file]", programFile)
    .summary("how long a program takes on machines with two levels of links")
    .description(
      "Executes a program's steps, tile by tile, on machines of GPUs that are joined by NVLink (350 GB/s, 0.7 µs) and among " +
        "each other by InfiniBand cards (25 GB/s, 5 µs).",
    )
    .addOption(new Option("--preset <name>", "a figure instead of a file").choices(programPresetNames))
    .option("-g, --gpus <n>", "GPUs of a machine (default: all ranks)", wholeNumber(1, 1024))
    .option("-c, --cards <n>", "network cards of a machine (default: one a GPU)", wholeNumber(1, 1024))
    .addOption(sizesOption("bytes a rank", "4K,64K,1M,16M"))
    .option("--tile <bytes>", "of a chunk, handled at a time (default: what fits into a slot)", byteSize);
  addDrawingOptions(addProgramChoices(command))
    .addHelpText(
      "after",
      `
Presets:
  two-level   programs that know the two levels against those that don't
  tiles       a hierarchical all-reduce over the size of a tile

Examples:
  $ dfccl simulate program examples/programs/hierarchical.ts --gpus 2
  $ dfccl simulate program mine.ts --gpus 8 --cards 4 --bytes 1M,64M --tile 128K
  $ dfccl simulate program --preset two-level --report two-level.html

${exitCodesText({ 0: "simulated", 1: "failed", 2: "usage, or there is no such program" })}`,
    )
    .action(async (path: string | undefined, flags: SimulateProgramFlags) => {
      requireFileOrPreset(command, "a program's file", path, flags.preset);
      const { gpus, cards } = flags;
      if (gpus !== undefined && cards !== undefined && cards > gpus)
        command.error(`--cards ${cards} is more than a card for each of ${gpus} GPUs.`);
      if (flags.preset !== undefined)
        refuseIdle(command, ["gpus", "cards", "bytes", "tile"], "is for a program's file: a preset has its own");
      // Loaded late, because the simulator takes a while to load.
      const { simulateProgramFile, simulateProgramPreset } = await import("../simulate/run-program.js");
      if (flags.preset !== undefined) process.exitCode = await simulateProgramPreset(flags.preset, flags);
      else if (path !== undefined) process.exitCode = await simulateProgramFile(path, flags);
    });
}
