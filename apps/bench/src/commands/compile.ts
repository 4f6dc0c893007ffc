import { extname } from "node:path";
import { formatStages, programLines, writeXml } from "@dfccl/compiler";
import type { VerificationReport } from "@dfccl/primitives";
import type { Command } from "commander";
import { writeOutput } from "../outputs/write-output.js";
import { describeProgram } from "../programs/describe-program.js";
import type { LoadedProgram } from "../programs/load-program.js";
import { loadProven } from "../programs/load-proven.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { say } from "../terminal/say.js";
import { withStages } from "../terminal/stages.js";
import { outputFileOf, refuseIdle } from "./options.js";
import { addLoadOptions, type LoadFlags } from "./program-options.js";

interface CompileFlags extends LoadFlags {
  readonly stages?: boolean;
  readonly output?: string;
  readonly ignoreLimits?: boolean;
  readonly json?: boolean;
}

export function addCompileCommand(program: Command): void {
  addLoadOptions(program.command("compile"))
    .summary("compile a collective of your own and prove it")
    .description("Compiles a program of the chunk-oriented language, or reads an MSCCL file, proves it, and says what came of it.")
    .option("--stages", "print every stage: operations, DAGs, fusion, channels, blocks, steps")
    .option(
      "-o, --output <file>",
      "write it: MSCCL's XML, or with .json the program as @dfccl/primitives has it",
      outputFileOf(".xml", ".json"),
    )
    .option("--ignore-limits", "write XML also beyond what MSCCL's runtime can hold")
    .option("--json", "print the program as JSON instead of text")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl compile ring.ts
  $ dfccl compile ring.ts --stages
  $ dfccl compile ring.ts --instances 4 --protocol ll -o ring.xml

${exitCodesText({ 0: "compiled and proven", 1: "refused: the message says why, and at which line", 2: "usage, or no program in the file" })}`,
    )
    .action(async (file: string, flags: CompileFlags, command: Command) => {
      if (flags.json) refuseIdle(command, ["stages"], "prints text: leave it or --json out");
      if (flags.output === undefined || isJson(flags.output)) refuseIdle(command, ["ignoreLimits"], "is for --output FILE.xml");
      const { loaded, report } = await withStages((begin) => loadProven(file, flags, begin));
      await runCompile(loaded, report, flags);
    });
}

function isJson(file: string): boolean {
  return extname(file) === ".json";
}

async function runCompile(loaded: LoadedProgram, report: VerificationReport, flags: CompileFlags): Promise<void> {
  const { name, program, compiled } = loaded;
  if (flags.output !== undefined) {
    const bounds = { minBytes: loaded.minBytes ?? 0, maxBytes: loaded.maxBytes ?? 0 };
    const text = isJson(flags.output)
      ? `${JSON.stringify(program, null, 1)}\n`
      : writeXml(program, { name, ...bounds, ignoreLimits: flags.ignoreLimits ?? false });
    writeOutput(flags.output, text);
  }
  if (flags.json) {
    say(JSON.stringify({ name, report, program }));
    return;
  }
  if (flags.stages) {
    const stages = compiled ? formatStages(compiled) : [{ title: "Program", lines: programLines(program) }];
    for (const [index, { title, lines }] of stages.entries())
      say(`${out.bold(`${index + 1}. ${title}`)}\n${lines.map((line) => `   ${line}`).join("\n")}\n`);
  }
  say(`${out.bold(name)}\n${describeProgram(loaded, report)}\n`);
  say(out.green("Proven: no cycle, no race, slots suffice, and every output holds what the collective promises."));
  if (flags.output !== undefined) say(`Written to ${flags.output}.`);
}
