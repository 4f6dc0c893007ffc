import { protocols } from "@dfccl/primitives";
import { type Command, InvalidArgumentError as InvalidOption, Option } from "commander";
import type { LoadOptions } from "../programs/load-program.js";
import type { RankShape } from "../programs/named-algorithm.js";
import { wholeNumber } from "./options.js";

export const programFile =
  "a module that exports a program of @dfccl/compiler (.ts, .js, .mjs), what dfccl compile wrote (.json), an MSCCL file (.xml), " +
  "or the name of an algorithm of @dfccl/compiler/algorithms, such as ring-all-reduce; with what is to be different behind it, such as " +
  ":ll, :direct, :direct:phases, :x8 (instances), :c4 (channels of a ring)";

export type LoadFlags = LoadOptions;

/** The file and the options of every command that needs a program. */
export function addLoadOptions(command: Command): Command {
  return addProgramChoices(command.argument("<program>", programFile));
}

export const instanceCount = wholeNumber(1, 256);

type AddOption = (flags: string, description: string, parse: (text: string) => unknown) => void;

/** What the command line replaces of a definition. @param addInstances - how the command takes --instances. */
export function addProgramChoices(
  command: Command,
  addInstances: (add: AddOption) => void = (add) =>
    add("-i, --instances <n>", "copies of the program side by side, instead of what it says", instanceCount),
): Command {
  command
    .option("-e, --export <name>", "which export (default: the default export, or the only one)")
    .option("-r, --ranks <n>", "of an algorithm that is named: 4, or nodes × GPUs such as 2x4 (default: 4)", rankShape);
  addInstances((flags, description, parse) => command.option(flags, description, parse));
  command
    .option("-d, --direct", "ranks share memory: accesses to each other's buffers instead of messages")
    .option("--phases", "as --direct, but every reduction into the rank's own memory comes before the copies to others");
  return command.addOption(new Option("-p, --protocol <protocol>", "instead of what the program says").choices([...protocols]));
}

const mostRanks = 1024;

function rankShape(text: string): RankShape {
  const [, nodes, gpus] = /^(?:(\d+)[x×])?(\d+)$/.exec(text) ?? [];
  const shape = { nodes: Number(nodes ?? 1), gpus: Number(gpus ?? 0) };
  const ranks = shape.nodes * shape.gpus;
  if (!(ranks >= 1 && ranks <= mostRanks)) throw new InvalidOption(`It must be up to ${mostRanks} ranks: 4, or nodes × GPUs such as 2x4.`);
  return shape;
}
