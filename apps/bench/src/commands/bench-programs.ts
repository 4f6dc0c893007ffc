import type { Command } from "commander";
import { markdownTable } from "../peers/markdown.js";
import { findRoot } from "../peers/native-programs.js";
import { busyWarning, type PeerFacts, type ReportHeader, reportHeader } from "../peers/report-header.js";
import { reportPage } from "../peers/report-page.js";
import { type MeasurementTools, runMeasurement } from "../peers/run-measurement.js";
import { type ReportFlags, writeReports } from "../peers/write-reports.js";
import { engineChoice } from "../programs/compare-natively.js";
import { fastestOf, type SizeResult } from "../programs/program-table.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { formatBytes, formatSeconds } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { addCompareOptions, type CompareFlags, comparePrograms, describeComparison, namesOf } from "./compare-programs.js";
import { outputFile, outputFileOrDash } from "./options.js";

interface BenchProgramsFlags extends CompareFlags, ReportFlags {}

interface Report {
  readonly header: ReportHeader;
  /** How often each took its turn, on which kind of device, and whether each operation was waited for. */
  readonly how: string;
  readonly results: readonly SizeResult[];
}

export function addBenchProgramsCommand(bench: Command): void {
  addCompareOptions(bench.command("programs"))
    .summary("programs of your own beside the built-in ones, in one run")
    .description(
      "Measures programs on the engine, all ranks in this process, beside each other and the built-in algorithms for the same collective; " +
        "with --gpus on GPUs, beside what the engine chooses there and NCCL. They take turns. Keep the machine quiet meanwhile.",
    )
    .option("--json <file>", "write header and results, every turn of them; - for standard output, instead of text", outputFileOrDash)
    .option("--markdown <file>", "write the page for docs/benchmarks", outputFile)
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl bench programs ring.ts --quick
  $ dfccl bench programs ring.ts tree.ts all-pairs.xml -b 1K,64K,4M --json compared.json
  $ dfccl bench programs --gpus --ranks 4 --instances 1,8,32 ring-all-reduce all-pairs-two-shot-all-reduce:direct{,:phases}

${exitCodesText({ 0: "measured", 1: "failed, a program was refused, or a result was wrong", 2: "usage" })}`,
    )
    .action(async (files: string[], flags: BenchProgramsFlags) => {
      process.exitCode = await runMeasurement(flags, (tools) => benchPrograms(files, flags, tools));
    });
}

async function benchPrograms(files: readonly string[], flags: BenchProgramsFlags, { signal, say }: MeasurementTools): Promise<void> {
  const { results, machine, peers } = await comparePrograms(files, flags, signal);
  const header = reportHeader(findRoot(), machine, "", peers);
  const warning = busyWarning(machine);
  if (warning) say(`${out.yellow(wrap(warning))}\n`);
  const how = describeHow(flags, peers);
  say(`${how} * is the fastest.\n\n${describeComparison(results)}`);
  writeReports(flags, { header, how, results }, markdown);
}

function describeHow({ gpus, backToBack }: CompareFlags, peers: PeerFacts = {}): string {
  if (!gpus) return "Median time of a run, from submission on all ranks to the last completion; all ranks in one process, on the CPU.";
  const nccl = peers.nccl === undefined ? "NCCL wasn't found" : "a thread a GPU on both sides";
  const begins = backToBack ? "all waited for together" : "each waited for before the next begins";
  return `Median time of a run over all turns, out of place, ${begins}; every result is compared to the bit; ${nccl}.`;
}

function markdown({ header, how, results }: Report): string {
  const names = namesOf(results);
  const secondsOf = ({ measured }: SizeResult, name: string): number => measured.find((one) => one.name === name)?.seconds ?? Number.NaN;
  const table = (rows: readonly string[], cell: (result: SizeResult, name: string) => string): string =>
    markdownTable(
      ["", ...results.map(({ bytes }) => formatBytes(bytes))],
      rows.map((name) => [name, ...results.map((result) => cell(result, name))]),
    );
  const times = table(names, (result, name) => {
    const seconds = secondsOf(result, name);
    if (Number.isNaN(seconds)) return "";
    const text = formatSeconds(seconds);
    return fastestOf(result.measured) === name ? `**${text}**` : text;
  });
  const ratios = ["NCCL", engineChoice].flatMap((rival) => {
    if (!names.includes(rival)) return [];
    const ratio = (result: SizeResult, name: string): string => {
      const times = secondsOf(result, rival) / secondsOf(result, name);
      return Number.isNaN(times) ? "" : times.toFixed(2);
    };
    const others = names.filter((name) => name !== rival);
    return [`\nHow many times faster than ${rival === "NCCL" ? rival : "what the engine chooses"}:\n\n${table(others, ratio)}\n`];
  });
  return reportPage("Programs beside each other", header, [how], `The fastest of a size is bold.\n\n${times}\n${ratios.join("")}`);
}
