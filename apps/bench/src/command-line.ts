import { createRequire } from "node:module";
import { Command, CommanderError } from "commander";
import { addBenchCommand } from "./commands/bench.js";
import { addBoxingCommand } from "./commands/boxing.js";
import { addCompareCommand } from "./commands/compare.js";
import { addCompileCommand } from "./commands/compile.js";
import { addCompletionCommand } from "./commands/completion.js";
import { addDisorderCommand } from "./commands/disorder.js";
import { addDoctorCommand } from "./commands/doctor.js";
import { addDrawCommand } from "./commands/draw.js";
import { addLaunchCommand } from "./commands/launch.js";
import { addPerfCommand } from "./commands/perf.js";
import { addPipelineCommand } from "./commands/pipeline.js";
import { addReportCommand } from "./commands/report.js";
import { addRunCommand } from "./commands/run.js";
import { addRunNcclCommand } from "./commands/run-nccl.js";
import { addSimulateCommand } from "./commands/simulate.js";
import { addStatusCommand } from "./commands/status.js";
import { addStickinessCommand } from "./commands/stickiness.js";
import { addTrainCommand } from "./commands/train.js";
import { addTuneCommand } from "./commands/tune.js";
import { addVerifyCommand } from "./commands/verify.js";
import { runAsLaunch } from "./launch/run-as-launch.js";
import { err } from "./terminal/colors.js";
import { exitTableText } from "./terminal/exit-codes.js";
import { runToExitCode } from "./terminal/run-to-exit-code.js";
import { versionText } from "./terminal/version-text.js";

const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

/** The command with all that it has below it: what shows help, completes and runs reads the same table. */
export function makeProgram(): Command {
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

  addDisorderCommand(program);
  addLaunchCommand(program);
  addRunNcclCommand(program);
  addStatusCommand(program);
  addCompileCommand(program);
  addVerifyCommand(program);
  addDrawCommand(program);
  addRunCommand(program);
  addTrainCommand(program);
  addTuneCommand(program);
  addBenchCommand(program);
  addPerfCommand(program);
  addCompareCommand(program);
  addReportCommand(program);
  addStickinessCommand(program);
  addSimulateCommand(program);
  addBoxingCommand(program);
  addPipelineCommand(program);
  addDoctorCommand(program);
  addCompletionCommand(program);
  return program;
}

/** Runs what was typed after dfccl; the exit code is in process.exitCode then. */
export async function runCommandLine(args: readonly string[], program = makeProgram()): Promise<void> {
  const launch = program.commands.find((command) => command.name() === "launch");
  await runToExitCode(() => program.parseAsync(runAsLaunch(args, launch?.options ?? []), { from: "user" }));
}
