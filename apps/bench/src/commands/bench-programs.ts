import type { Command } from "commander";
import { markdownTable } from "../peers/markdown.js";
import { busyWarning, type MachineFacts } from "../peers/report-header.js";
import { sayer, writeReports } from "../peers/write-reports.js";
import { fastestOf, type SizeResult } from "../programs/program-table.js";
import { out } from "../terminal/colors.js";
import { watchForInterruption } from "../terminal/interruption.js";
import { formatBytes, formatSeconds } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { addCompareOptions, type CompareFlags, comparePrograms, describeComparison } from "./compare-programs.js";
import { outputFile, outputFileOrDash } from "./options.js";

interface BenchProgramsFlags extends CompareFlags {
  readonly json?: string;
  readonly markdown?: string;
}

interface Report {
  readonly command: string;
  readonly date: string;
  readonly machine: MachineFacts;
  readonly results: readonly SizeResult[];
}

export function addBenchProgramsCommand(bench: Command): void {
  addCompareOptions(bench.command("programs"))
    .summary("programs of your own beside the built-in ones, in one run")
    .description(
      "Measures programs on the engine, all ranks in this process, beside each other and the built-in algorithms for the same collective. " +
        "They take turns. Keep the machine quiet meanwhile.",
    )
    .option("--json <file>", "write machine and results; - for standard output, instead of text", outputFileOrDash)
    .option("--markdown <file>", "write the page for docs/benchmarks", outputFile)
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl bench programs ring.ts --quick
  $ dfccl bench programs ring.ts tree.ts all-pairs.xml -b 1K,64K,4M --json compared.json

Exit codes:
  0    measured
  1    failed, or a program was refused
  2    usage
  130  interrupted`,
    )
    .action(async (files: string[], flags: BenchProgramsFlags) => {
      process.exitCode = await benchPrograms(files, flags);
    });
}

async function benchPrograms(files: readonly string[], flags: BenchProgramsFlags): Promise<number> {
  const say = sayer(flags);
  using interruption = watchForInterruption();
  try {
    const { results, machine } = await comparePrograms(files, flags, interruption.signal);
    const warning = busyWarning(machine);
    if (warning) say(`${out.yellow(wrap(warning))}\n`);
    say(`Median time of a run; * is the fastest.\n\n${describeComparison(results)}`);
    const report = { command: ["npx", "dfccl", ...process.argv.slice(2)].join(" "), date: new Date().toISOString(), machine, results };
    await writeReports(flags, report, markdown);
    return 0;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    say(out.red("Interrupted."));
    return interruption.exitCode() ?? 1;
  }
}

function markdown({ command, date, machine, results }: Report): string {
  const names = results[0]?.measured.map(({ name }) => name) ?? [];
  const cell = ({ measured }: SizeResult, name: string): string => {
    const text = formatSeconds(measured.find((one) => one.name === name)?.seconds ?? Number.NaN);
    return fastestOf(measured) === name ? `**${text}**` : text;
  };
  const rows = names.map((name) => [name, ...results.map((result) => cell(result, name))]);
  return `# Programs beside each other

\`\`\`sh
${command}
\`\`\`
${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, Node ${machine.node}, ${date.slice(0, 10)}; load before: ${machine.loadBefore.toFixed(1)}.
All ranks in one process, on the CPU. Median time of a run, from submission on all ranks to the last completion; the fastest of a size is bold.

${markdownTable(["", ...results.map(({ bytes }) => formatBytes(bytes))], rows)}
`;
}
