import type { HandOffFigures } from "@dfccl/train";
import type { Command } from "commander";
import { findRoot } from "../peers/native-programs.js";
import { busyWarning, describeHeader, machineFacts, type ReportHeader, reportHeader } from "../peers/report-header.js";
import { type ReportFlags, sayer, writeReports } from "../peers/write-reports.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { withProgress } from "../terminal/progress.js";
import { formatTable } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { loadTrain } from "../training/load-train.js";
import { outputFile, outputFileOrDash, wholeNumber } from "./options.js";

interface LoaderFlags extends ReportFlags {
  readonly loaders: number;
  readonly count: number;
}

interface LoaderReport {
  readonly kind: "loader";
  readonly header: ReportHeader;
  readonly figures: readonly HandOffFigures[];
}

export function addBenchLoaderCommand(parent: Command): void {
  parent
    .command("loader")
    .summary("what it costs a trainer to take a batch, and a caller to start threads")
    .description(
      "Measures the hand-offs of the lecture Rings and Things between threads of JavaScript: flip-flop and ring against a queue " +
        "behind a mutex, and the wave against a condition variable. Needs the package @dfccl/train. Keep the machine quiet.",
    )
    .option("-l, --loaders <n>", "threads that load", wholeNumber(1, 64), 4)
    .option("-n, --count <n>", "hand-offs, and rounds", wholeNumber(10, 1_000_000), 20_000)
    .option("--json <file>", "write header and figures; - for standard output, instead of text", outputFileOrDash)
    .option("--markdown <file>", "write the page for docs/benchmarks", outputFile)
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl bench loader --loaders 2

${exitCodesText({ 0: "measured", 1: "failed", 2: "usage" })}`,
    )
    .action(async (flags: LoaderFlags) => {
      const { measureHandOffs } = await loadTrain();
      const machine = machineFacts();
      const say = sayer(flags);
      const warning = busyWarning(machine);
      if (warning !== undefined) say(out.yellow(wrap(warning)));
      const options = { loaders: flags.loaders, count: flags.count, stepMicros: 100 };
      const figures = await withProgress("Measuring", 6, (progress) =>
        measureHandOffs({ ...options, onProgress: (done) => progress.update(done) }),
      );
      const report: LoaderReport = { kind: "loader", header: reportHeader(findRoot(), machine, ""), figures };
      say(describe(figures));
      writeReports(flags, report, markdown);
    });
}

const heads = ["", "threads", "median µs", "mean µs", "p99 µs"];

function rows(figures: readonly HandOffFigures[]): string[][] {
  const digits = (value: number): string => value.toPrecision(3);
  return figures.map(({ kind, workers, medianMicros, meanMicros, p99Micros }) => [
    kind,
    String(workers),
    digits(medianMicros),
    digits(meanMicros),
    digits(p99Micros),
  ]);
}

/** How many times the second of a pair costs the first. */
function ratios(figures: readonly HandOffFigures[]): string[] {
  return figures.flatMap((figure, i) => {
    const other = figures[i + 1];
    if (i % 2 === 1 || other === undefined) return [];
    const times = (of: "medianMicros" | "meanMicros"): string => (other[of] / figure[of]).toPrecision(2);
    const threads = `${figure.workers} ${figure.workers === 1 ? "thread" : "threads"}`;
    return [`${other.kind} / ${figure.kind}, ${threads}: ${times("medianMicros")} times the median, ${times("meanMicros")} times the mean`];
  });
}

function describe(figures: readonly HandOffFigures[]): string {
  return `${formatTable(rows(figures), heads)}\n\n${ratios(figures)
    .map((line) => wrap(line))
    .join("\n")}`;
}

function markdown({ header, figures }: LoaderReport): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return `# Hand-offs from loaders to a trainer

${describeHeader(header)
  .map((line) => `- ${line}`)
  .join("\n")}
- Command: \`${header.command}\`

What taking a batch costs the trainer, which works 100 µs between two, while loaders have one ready; and what starting threads and
collecting them costs their caller.

${row(heads)}
${row(heads.map((_, i) => (i === 0 ? "---" : "---:")))}
${rows(figures).map(row).join("\n")}

${ratios(figures)
  .map((line) => `- ${line}`)
  .join("\n")}

Where threads outnumber the cores, a wave's spinning workers hold the cores that the others need, so little or nothing is left of its
lead: the wave is for threads that have a core each. The mean holds the moments in which the operating system had taken
the trainer, or whoever held the mutex, off its core.
`;
}
