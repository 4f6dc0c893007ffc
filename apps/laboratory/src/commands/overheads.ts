import type { Command } from "commander";
import {
  buildNativeTarget,
  busyWarning,
  describeHeader,
  exitCodesText,
  machineFacts,
  type OverheadsReport,
  out,
  outputFile,
  outputFileOrDash,
  type ReportFlags,
  runMeasurement,
  runProgram,
  wholeNumber,
  withNote,
  withProgress,
  wrap,
  writeReports,
} from "dfccl/internal/measurement";
import { clone } from "../clone.js";
import { measureJavaScriptRates } from "../overheads/javascript-rates.js";
import { readOverheads } from "../overheads/read-overheads.js";
import { describeOverheads, overheadsMarkdown } from "../overheads/report.js";
import { headerOf } from "../report-header.js";

interface OverheadsFlags extends ReportFlags {
  readonly quick?: boolean;
  readonly repetitions?: number;
}

export function addOverheadsCommand(laboratory: Command): void {
  laboratory
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
  $ npm run bench:overheads -- --quick
  $ npm run bench:overheads -- --json overheads.json
  $ dfccl report overheads.json

${exitCodesText({ 0: "measured", 1: "failed, or a result was wrong", 2: "usage" }, "no file is written")}`,
    )
    .action(async (flags: OverheadsFlags) => {
      process.exitCode = await measureOverheads(flags);
    });
}

async function measureOverheads(flags: OverheadsFlags): Promise<number> {
  const repetitions = flags.repetitions ?? (flags.quick ? 1 : 5);
  const machine = machineFacts();
  return runMeasurement(flags, async ({ signal, say }) => {
    const programs = await withNote("Building the native benchmarks", () => buildNativeTarget(clone, "bench", signal));
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
      return measureJavaScriptRates(clone, signal);
    });
    const header = { ...headerOf(machine, outputs[0] ?? ""), repetitions };
    const report: OverheadsReport = { header, ...readOverheads(outputs), javascript };
    say(`${describeHeader(header).join("\n")}\n\n${describeOverheads(report)}`);
    writeReports(flags, report, overheadsMarkdown);
  });
}
