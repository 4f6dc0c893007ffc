import type { Command } from "commander";
import { measureJavaScriptRates } from "../overheads/javascript-rates.js";
import { readOverheads } from "../overheads/read-overheads.js";
import { describeOverheads, type OverheadsReport, overheadsMarkdown } from "../overheads/report.js";
import { buildNativePrograms, repositoryRoot } from "../peers/native-programs.js";
import { busyWarning, describeHeader, machineFacts, reportHeader } from "../peers/report-header.js";
import { runMeasurement } from "../peers/run-measurement.js";
import { runProgram } from "../peers/run-program.js";
import { type ReportFlags, writeReports } from "../peers/write-reports.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { withNote } from "../terminal/note.js";
import { withProgress } from "../terminal/progress.js";
import { wrap } from "../terminal/wrap.js";
import { outputFile, outputFileOrDash, wholeNumber } from "./options.js";

interface OverheadsFlags extends ReportFlags {
  readonly quick?: boolean;
  readonly repetitions?: number;
}

/** As `dfccl overheads`, beside the paper's other experiments, and as `dfccl bench overheads`. */
export function addOverheadsCommand(parent: Command): void {
  parent
    .command("overheads")
    .summary("what submission, scheduling and completion add, part by part")
    .description(
      "Measures what the way through queue, daemon and completion adds to executing a program: each part by itself, whole " +
        "all-reduces beside the same program in a bare loop, submissions and completions from JavaScript, and the memory of a " +
        "thousand registered collectives. Keep the machine quiet meanwhile.",
    )
    .option("-q, --quick", "one short run")
    .option("-n, --repetitions <n>", "runs (default: 5, with --quick 1)", wholeNumber(1, 1000))
    .option("--json <file>", "write header and figures; - for standard output, instead of text", outputFileOrDash)
    .option("--markdown <file>", "write the page for docs/benchmarks", outputFile)
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl overheads --quick
  $ dfccl overheads --json overheads.json
  $ dfccl report overheads.json

${exitCodesText({ 0: "measured", 1: "failed, or a result was wrong", 2: "usage" }, "no file is written")}`,
    )
    .action(async (flags: OverheadsFlags) => {
      process.exitCode = await benchOverheads(flags);
    });
}

async function benchOverheads(flags: OverheadsFlags): Promise<number> {
  const root = repositoryRoot();
  const repetitions = flags.repetitions ?? (flags.quick ? 1 : 5);
  const machine = machineFacts();
  return runMeasurement(flags, async ({ signal, say }) => {
    const programs = await withNote("Building the native benchmarks", () => buildNativePrograms(root, signal));
    const warning = busyWarning(machine);
    if (warning) say(`${out.yellow(wrap(warning))}\n`);
    const budget = flags.quick ? "0.05" : "0.2";
    const outputs: string[] = [];
    const javascript = await withProgress("Measuring", repetitions + 1, async (progress) => {
      for (let run = 0; run < repetitions; run += 1) {
        progress.update(run, "native parts");
        outputs.push(await runProgram({ command: `${programs}/overheads_bench`, args: ["--budget", budget], signal }));
      }
      progress.update(repetitions, "from JavaScript");
      return measureJavaScriptRates(root, signal);
    });
    const header = { ...reportHeader(root, machine, outputs[0] ?? ""), repetitions };
    const report: OverheadsReport = { header, ...readOverheads(outputs), javascript };
    say(`${describeHeader(header).join("\n")}\n\n${describeOverheads(report)}`);
    writeReports(flags, report, overheadsMarkdown);
  });
}
