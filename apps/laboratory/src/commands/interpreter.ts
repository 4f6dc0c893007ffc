import { join } from "node:path";
import { compile } from "@dfccl/compiler";
import { ringAllReduce } from "@dfccl/compiler/algorithms";
import type { Command } from "commander";
import {
  buildNativeTarget,
  busyWarning,
  describeHeader,
  exitCodesText,
  listOf,
  machineFacts,
  out,
  outputFile,
  outputFileOrDash,
  type ReportFlags,
  runMeasurement,
  runProgram,
  sizesOption,
  temporaryFolder,
  wholeNumber,
  withNote,
  withProgress,
  wrap,
  writePrograms,
  writeReports,
} from "dfccl/internal/measurement";
import { clone } from "../clone.js";
import { readInterpreterRows } from "../interpreter/read-rows.js";
import { describeInterpreter, type InterpreterReport, type InterpreterRow, interpreterMarkdown } from "../interpreter/report.js";
import { headerOf } from "../report-header.js";

interface InterpreterFlags extends ReportFlags {
  readonly ranks: readonly number[];
  readonly bytes: readonly number[];
  readonly turns: number;
}

export function addInterpreterCommand(laboratory: Command): void {
  laboratory
    .command("interpreter")
    .summary("a compiled ring beside the same ring written by hand")
    .description(
      "Measures a compiled ring all-reduce on the engine, and by turns a hand-written loop that moves the same tiles through the same " +
        "slots, both on one thread. Keep the machine quiet meanwhile.",
    )
    .option("-r, --ranks <list>", "numbers of ranks", listOf(wholeNumber(2, 64)), [4, 8])
    .addOption(sizesOption("sizes", "256K,1M,4M,16M,64M"))
    .option("-n, --turns <n>", "turns", wholeNumber(1, 1000), 15)
    .option("--json <file>", "write header and rows; - for standard output, instead of text", outputFileOrDash)
    .option("--markdown <file>", "write the page for docs/benchmarks", outputFile)
    .addHelpText(
      "after",
      `
Examples:
  $ npm run bench:interpreter -- --ranks 4 --bytes 1M --turns 3
  $ npm run bench:interpreter -- --markdown docs/benchmarks/interpreter.md

${exitCodesText({ 0: "measured", 1: "failed, or a result was wrong", 2: "usage" }, "no file is written")}`,
    )
    .action(async (flags: InterpreterFlags) => {
      process.exitCode = await measureInterpreter(flags);
    });
}

async function measureInterpreter(flags: InterpreterFlags): Promise<number> {
  const machine = machineFacts();
  using folder = temporaryFolder("dfccl-interpreter");
  return await runMeasurement(flags, async ({ signal, say }) => {
    const programs = await withNote("Building the native benchmark", () => buildNativeTarget(clone, "interpreter_bench", signal));
    const warning = busyWarning(machine);
    if (warning) say(`${out.yellow(wrap(warning))}\n`);
    const outputs: string[] = [];
    const rows = await withProgress("Measuring", flags.ranks.length * flags.bytes.length, async (progress) => {
      const measured: InterpreterRow[] = [];
      for (const ranks of flags.ranks) {
        const program = join(folder.path, `ring-${ranks}`);
        writePrograms(program, compile(ringAllReduce({ ranks })).program);
        for (const bytes of flags.bytes) {
          progress.update(measured.length, `${ranks} ranks`);
          const args = ["--program", program, "--bytes", String(bytes), "--turns", String(flags.turns), "--budget", "0.05"];
          const probe = ["--probe", outputs.length === 0 ? "yes" : "no"];
          outputs.push(await runProgram({ command: join(programs, "interpreter_bench"), args: [...args, ...probe], signal }));
          measured.push(...readInterpreterRows(outputs.at(-1) ?? ""));
        }
      }
      return measured;
    });
    const report: InterpreterReport = { header: headerOf(machine, outputs[0] ?? ""), rows };
    say(`${describeHeader(report.header).join("\n")}\n\n${describeInterpreter(rows)}`);
    writeReports(flags, report, interpreterMarkdown);
  });
}
