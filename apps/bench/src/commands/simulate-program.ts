import { protocols } from "@dfccl/primitives";
import { type Command, Option } from "commander";
import { programPresetNames } from "../simulate/program-preset-names.js";
import type { SimulateProgramFlags } from "../simulate/run-program.js";
import { byteSize, listOf, outputFile, outputFolder, wholeNumber } from "./options.js";

export function addSimulateProgramCommand(simulate: Command): void {
  simulate
    .command("program")
    .argument("[file]", "a module that exports a program of @dfccl/compiler (.ts, .js, .mjs), or an MSCCL file (.xml)")
    .summary("how long a program takes on machines with two levels of links")
    .description(
      "Executes a program's steps, tile by tile, on machines of GPUs that are joined by NVLink (350 GB/s, 0.7 µs) and among " +
        "each other by InfiniBand cards (25 GB/s, 5 µs).",
    )
    .addOption(new Option("--preset <name>", "a figure instead of a file").choices(programPresetNames))
    .option("-g, --gpus <n>", "GPUs of a machine (default: all ranks)", wholeNumber(1, 1024))
    .option("-c, --cards <n>", "network cards of a machine (default: one a GPU)", wholeNumber(1, 1024))
    .option("-b, --bytes <list>", "bytes a rank", listOf(byteSize), [2 ** 12, 2 ** 16, 2 ** 20, 2 ** 24])
    .option("--tile <bytes>", "of a chunk, handled at a time (default: what fits into a slot)", byteSize)
    .option("-e, --export <name>", "which export (default: the default export, or the only one)")
    .option("-i, --instances <n>", "copies of the program side by side, instead of what it says", wholeNumber(1, 256))
    .addOption(new Option("-p, --protocol <protocol>", "instead of what the program says").choices([...protocols]))
    .option("--report <file.html>", "write tables and charts into one file that needs no other", outputFile)
    .option("--svg <folder>", "write each chart as an SVG file", outputFolder)
    .option("--json", "print one JSON object instead of text")
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

Exit codes:
  0    simulated
  1    failed
  2    usage, or there is no such program
  130  interrupted`,
    )
    .action(async (path: string | undefined, flags: SimulateProgramFlags, command: Command) => {
      if ((path === undefined) === (flags.preset === undefined)) command.error("Give a program's file or --preset, one of them.");
      const { gpus, cards } = flags;
      if (gpus !== undefined && cards !== undefined && cards > gpus)
        command.error(`--cards ${cards} is more than a card for each of ${gpus} GPUs.`);
      // Loaded late, because the simulator takes a while to load.
      const { simulateProgramFile, simulateProgramPreset } = await import("../simulate/run-program.js");
      if (flags.preset !== undefined) process.exitCode = await simulateProgramPreset(flags.preset, flags);
      else if (path !== undefined) process.exitCode = await simulateProgramFile(path, flags);
    });
}
