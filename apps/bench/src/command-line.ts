import { createRequire } from "node:module";
import { Command, CommanderError } from "commander";
import { addCommands, type CommandName, commandNames, isCommandName } from "./commands/load-commands.js";
import { runAsLaunch } from "./launch/run-as-launch.js";
import { err } from "./terminal/colors.js";
import { exitTableText } from "./terminal/exit-codes.js";
import { runToExitCode } from "./terminal/run-to-exit-code.js";
import { versionText } from "./terminal/version-text.js";

const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

/**
 * The command with what it has below it: what shows help, completes and runs reads the same table.
 * @param names - the commands to add. Default: all.
 */
export async function makeProgram(names: readonly CommandName[] = commandNames): Promise<Command> {
  const program = new Command("dfccl")
    .description("Collectives that cannot deadlock: any rank, any order, device synchronizations in between.")
    .option("-V, --version", "output the version number, and what it was built from")
    .on("option:version", () => {
      process.stdout.write(versionText(version));
      throw new CommanderError(0, "commander.version", version);
    })
    .showHelpAfterError("(dfccl --help, or dfccl COMMAND --help, shows what is possible)")
    .addHelpText("after", `\nThe first thing to try:\n  $ dfccl disorder --control\n\n${exitTableText()}`)
    // `perf` hands its options on, as they are.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(err.red(text)) });

  await addCommands(program, names);
  return program;
}

/** Runs what was typed after dfccl; the exit code is in process.exitCode then. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  const program = await makeProgram(namedBy(args));
  const launch = program.commands.find((command) => command.name() === "launch");
  await runToExitCode(() => program.parseAsync(runAsLaunch(args, launch?.options ?? []), { from: "user" }));
}

/** What a line can need. Loading all commands takes longer than most of them work, so that one that is named comes alone. */
function namedBy([name = ""]: readonly string[]): readonly CommandName[] {
  // Completion reads the whole table; help, options and slips of the pen are answered with it.
  if (!isCommandName(name) || name === "completion") return commandNames;
  return name === "run" ? ["launch", name] : [name];
}
