#!/usr/bin/env node
import { DfcclError } from "@dfccl/primitives";
import { Command } from "commander";
import { createRequire } from "node:module";
import pc from "picocolors";
import { addDisorderCommand } from "./commands/disorder.js";
import { addDoctorCommand } from "./commands/doctor.js";

const usageError = 2;
const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

const program = new Command("dfccl")
  .description("Collectives that cannot deadlock: any rank, any order, device synchronizations in between.")
  .version(version)
  .showHelpAfterError("(dfccl --help, or dfccl COMMAND --help, shows what is possible)")
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(pc.red(text)) });

addDisorderCommand(program);
addDoctorCommand(program);
for (const command of program.commands) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  // Thrown by commander after it has printed help, a version or a usage error.
  const { code, exitCode } = error as { code?: unknown; exitCode?: unknown };
  if (typeof code === "string" && code.startsWith("commander.")) return exitCode === 0 ? 0 : usageError;
  if (error instanceof DfcclError) {
    process.stderr.write(`${pc.red(error.message)}\n`);
    return error.code === "WORKLOAD" ? usageError : 1;
  }
  process.stderr.write(`${pc.red(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
  return 1;
}
