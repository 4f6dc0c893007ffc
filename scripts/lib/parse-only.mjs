// Reads what a page types after dfccl, or after a measurement's name, as the command line does, and runs nothing. Only for vitest, which takes TypeScript.

import { makeProgram } from "../../apps/bench/src/command-line.ts";
import { runAsLaunch } from "../../apps/bench/src/launch/run-as-launch.ts";
import { makeLaboratory } from "../../apps/laboratory/src/command-line.ts";
import { isCollectiveName, parseArguments } from "../../packages/collective-tests/src/index.ts";

/**
 * @param args - what is typed after dfccl.
 * @param options.mayLackArguments - for what a sentence mentions: `dfccl verify` without its file.
 * @param options.isLaboratory - for what a clone alone has.
 * @returns {fault, program}: what the command line would refuse; what `launch` would start, word by word.
 */
export async function parseOnly(args, { mayLackArguments = false, isLaboratory = false } = {}) {
  const dfccl = isLaboratory ? makeLaboratory() : await makeProgram();
  const found = { fault: undefined, program: undefined };
  for (const command of commandsUnder(dfccl)) {
    command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined, outputError: () => undefined });
    // Only where there is one: a group of commands must still say that it lacks one.
    if (command._actionHandler) command.action((...given) => took(command, given, found));
  }
  const launch = dfccl.commands.find((command) => command.name() === "launch");
  try {
    await dfccl.parseAsync(runAsLaunch(args, launch?.options ?? []), { from: "user" });
  } catch (error) {
    const isFine = error.exitCode === 0 || (mayLackArguments && /^commander\.(?:missingArgument|help)/.test(error.code));
    if (!isFine) found.fault = error.message.replace(/^error: /, "");
  }
  return found;
}

function* commandsUnder(command) {
  yield command;
  for (const one of command.commands) yield* commandsUnder(one);
}

/** Of two commands, the rest of the line is others' to read. */
function took(command, given, found) {
  if (command.name() === "launch") found.program = command.args;
  if (command.name() !== "perf") return;
  const [name, args] = given;
  if (!isCollectiveName(name.replace(/_perf$/, ""))) found.fault = `there is no collective test "${name}"`;
  else parseArguments(args);
}
