import type { Command } from "commander";
import { requireOutput } from "../outputs/require-output.js";
import { rulesOf, saveProgramTable } from "../programs/program-table.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { watchForInterruption } from "../terminal/interruption.js";
import { say } from "../terminal/say.js";
import { formatBytes, formatTable } from "../terminal/table.js";
import { machineFingerprint } from "../tuning/machine-fingerprint.js";
import { addCompareOptions, type CompareFlags, comparePrograms, describeComparison } from "./compare-programs.js";
import { outputFileOf } from "./options.js";

interface TuneProgramsFlags extends CompareFlags {
  readonly output: string;
}

export function addTuneProgramsCommand(tune: Command): void {
  addCompareOptions(tune.command("programs"))
    .summary("which program is the fastest for which size, by measuring")
    .description(
      "Measures programs beside the built-in ones at several sizes and writes the table of the fastest: rules for selectAmongPrograms() of " +
        "@dfccl/primitives, with the programs themselves; where no rule is, the engine chooses. Keep the machine quiet meanwhile.",
    )
    .option("-o, --output <file>", "where to write the table", outputFileOf(".json"), "programs.json")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl tune programs ring.ts all-pairs.ts
  $ dfccl tune programs *.xml -b 4K,64K,1M,16M -o all-reduce.json
  $ dfccl tune programs --gpus --instances 1,8,32 ring-all-reduce all-pairs-two-shot-all-reduce:direct{,:phases}

${exitCodesText({ 0: "measured and written", 1: "failed, or a program was refused; nothing is written", 2: "usage" }, "nothing is written")}`,
    )
    .action(async (files: string[], flags: TuneProgramsFlags) => {
      process.exitCode = await tunePrograms(files, flags);
    });
}

async function tunePrograms(files: readonly string[], flags: TuneProgramsFlags): Promise<number> {
  requireOutput(flags.output, "Give another file with --output.");
  using interruption = watchForInterruption();
  try {
    const { contenders, results } = await comparePrograms(files, flags, interruption.signal, false);
    const rules = rulesOf(results, contenders);
    await saveProgramTable(flags.output, { machine: machineFingerprint(), savedAt: new Date().toISOString(), rules });
    const rows = rules.map(({ name, minBytes = 0, maxBytes = 0 }) => [
      name,
      formatBytes(minBytes),
      maxBytes === 0 ? "no end" : formatBytes(maxBytes),
    ]);
    say(`${describeComparison(results)}\n\n${formatTable(rows, ["fastest", "from", "below"])}\n`);
    say(out.green(`Written to ${flags.output}.`));
    return 0;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    process.stderr.write("Interrupted: nothing is written.\n");
    return interruption.exitCode() ?? 1;
  }
}
