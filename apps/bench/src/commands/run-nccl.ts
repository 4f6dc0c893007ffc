import type { Command } from "commander";
import { findNcclLibrary } from "../nccl/find-library.js";
import { runInPlaceOfNccl } from "../nccl/run-in-place.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { programAndArguments } from "./options.js";

export function addRunNcclCommand(program: Command): void {
  program
    .command("run-nccl")
    .summary("start a program that calls NCCL, with dfccl in NCCL's place")
    .description(
      "Starts a program, unchanged, that finds dfccl's libnccl.so.2 before any other: PyTorch's own backend, or whatever calls NCCL. " +
        "For GPUs of one machine.",
    )
    .argument("<program...>", "the program and its arguments, as they are", programAndArguments)
    .option("--library <file>", "dfccl's libnccl.so.2; else the one beside the engine, or the clone's")
    .passThroughOptions()
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl run-nccl torchrun --nproc-per-node 2 train.py

${exitCodesText({ 0: "the program ended with 0; with another code, that one", 1: "it could not be started", 2: "usage" })}`,
    )
    .action(async ([name = "", ...args]: string[], flags: { library?: string }) => {
      process.exitCode = await runInPlaceOfNccl(findNcclLibrary(flags.library), name, args);
    });
}
