import { type ComparedRow, compareReports, fewestSamples, isRegression, readReport } from "@dfccl/collective-tests";
import type { Command } from "commander";
import { readReportText } from "../inputs/read-report-text.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { say } from "../terminal/say.js";
import { formatBytes, formatCountOf, formatSeconds, formatTable } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { numberBetween } from "./options.js";

interface CompareFlags {
  readonly tolerance: number;
  readonly json?: boolean;
}

const nothingJudged = 3;

export function addCompareCommand(program: Command): void {
  program
    .command("compare")
    .argument("<before>", "what dfccl perf -J wrote, or nccl-tests itself")
    .argument("<after>", "the same, later")
    .summary("whether one run is slower than another, with confidence intervals")
    .description(
      "Compares two runs of the collective tests case by case: medians, their ratio, and its 95% interval by bootstrap. A case " +
        "is slower where the whole interval lies beyond the tolerance. Measure with -I 1 (times of iterations) or -N 10 (cycles).",
    )
    .option("-t, --tolerance <percent>", "a difference that is none", numberBetween(0, 1000), 5)
    .option("--json", "print one JSON object instead of text")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl perf all_reduce -b 8 -e 1M -f 8 -g 4 -I 1 -J before.json
  $ dfccl compare before.json after.json
  $ dfccl compare before.json after.json --tolerance 10 --json

${exitCodesText({ 0: "nothing is slower", 1: "something is slower, wrong, or was not measured any more", 2: "usage, or a file that is no report", 3: "nothing could be judged: too few samples" })}`,
    )
    .action((before: string, after: string, flags: CompareFlags) => {
      process.exitCode = compare(before, after, flags);
    });
}

function compare(before: string, after: string, { tolerance, json }: CompareFlags): number {
  const [a, b] = [before, after].map((path) => readReport(readReportText(path), path));
  if (a === undefined || b === undefined) return 1;
  const rows = compareReports(a, b, tolerance / 100);
  const worse = rows.filter(isRegression);
  const isJudged = rows.some(({ verdict }) => verdict !== "unsure");
  if (json) {
    say(JSON.stringify({ kind: "comparison", tolerance, rows, regressions: worse.length }));
  } else {
    const columns = ["size", "what", "backend", "", "before", "after", "ratio", "95% interval", ""];
    say(`${formatTable(rows.map(cells), columns)}\n\n${verdict(rows, worse, isJudged)}`);
  }
  return worse.length > 0 ? 1 : isJudged ? 0 : nothingJudged;
}

function cells({ size, type, redop, backend, place, aUs, bUs, ratio, interval, verdict: is }: ComparedRow): string[] {
  const between = interval ? `${interval[0].toFixed(2)} – ${interval[1].toFixed(2)}` : "–";
  const what = redop === "none" || redop === "" ? type : `${type} ${redop}`;
  const [before, after] = [aUs, bUs].map((us) => formatSeconds(us / 1e6));
  return [formatBytes(size), what, backend, place, before ?? "", after ?? "", Number.isNaN(ratio) ? "–" : ratio.toFixed(2), between, is];
}

function verdict(rows: readonly ComparedRow[], worse: readonly ComparedRow[], isJudged: boolean): string {
  if (!isJudged) {
    const what = `No case has ${fewestSamples} samples on both sides, so nothing could be judged. Measure again with -I 1, or with -N 10.`;
    return out.yellow(wrap(what));
  }
  if (worse.length === 0) return out.green(`Nothing is slower, of ${formatCountOf(rows.length, "case")}.`);
  const count = (name: ComparedRow["verdict"]): number => worse.filter(({ verdict: is }) => is === name).length;
  const parts = [`${count("slower")} slower`, `${count("wrong")} wrong`, `${count("gone")} gone`].filter((part) => !part.startsWith("0"));
  return out.red(`${parts.join(", ")}, of ${formatCountOf(rows.length, "case")}.`);
}
