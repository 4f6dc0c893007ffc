import { protocols } from "@dfccl/primitives";
import { type Command, Option } from "commander";
import type { LoadOptions } from "../programs/load-program.js";
import { wholeNumber } from "./options.js";

export const programFile = "a module that exports a program of @dfccl/compiler (.ts, .js, .mjs), or an MSCCL file (.xml)";

/** The file and the options of every command that needs a program. */
export function addLoadOptions(command: Command): Command {
  return addProgramChoices(command.argument("<file>", programFile));
}

/** What the command line replaces of a definition. */
export function addProgramChoices(command: Command): Command {
  return command
    .option("-e, --export <name>", "which export (default: the default export, or the only one)")
    .option("-i, --instances <n>", "copies of the program side by side, instead of what it says", wholeNumber(1, 256))
    .addOption(new Option("-p, --protocol <protocol>", "instead of what the program says").choices([...protocols]));
}

export type LoadFlags = LoadOptions;
