import type { Command } from "commander";
import { findRoot } from "../peers/native-programs.js";
import { busyWarning, describeHeader, machineFacts, reportHeader } from "../peers/report-header.js";
import { runMeasurement } from "../peers/run-measurement.js";
import { writeReports } from "../peers/write-reports.js";
import { describeStickiness } from "../stickiness/describe.js";
import type { StickinessReport, StickinessRun } from "../stickiness/report.js";
import { runStickiness } from "../stickiness/run-stickiness.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { withProgress } from "../terminal/progress.js";
import { wrap } from "../terminal/wrap.js";
import { byteSize, numberBetween, outputFileOrDash, wholeNumber } from "./options.js";

interface StickinessFlags {
  readonly ranks: number;
  readonly collectives: number;
  readonly bytes: number;
  readonly iterations: number;
  readonly late: number;
  readonly lateRank?: number;
  readonly seed: number;
  readonly json?: string;
}

export function addStickinessCommand(program: Command): void {
  program
    .command("stickiness")
    .summary("what adaptive spin thresholds do, with one rank late")
    .description(
      "Runs all-reduces in random orders on every rank, with fixed and with adaptive spin thresholds, with and without one rank " +
        "that begins late: throughput, context switches and task-queue length (DFCCL, Fig. 11).",
    )
    .option("-r, --ranks <n>", "ranks", wholeNumber(2, 64), 4)
    .option("-c, --collectives <n>", "all-reduces an iteration", wholeNumber(1, 4096), 64)
    .option("-b, --bytes <n>", "of each, such as 4K or 1M", byteSize, 16_384)
    .option("-n, --iterations <n>", "iterations", wholeNumber(1, 1_000_000), 50)
    .option("--late <ms>", "how late", numberBetween(0, 60_000), 5)
    .option("--late-rank <n>", "who (default: the last one)", wholeNumber(0, 63))
    .option("--seed <n>", "seed of the orders", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("--json <file>", "write it all; - for standard output, instead of text", outputFileOrDash)
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl stickiness
  $ dfccl stickiness --late 20 --json stickiness.json
  $ dfccl report stickiness.json

${exitCodesText({ 0: "measured", 1: "failed, or a result was wrong", 2: "usage" }, "no file is written")}`,
    )
    .action(async (flags: StickinessFlags, command: Command) => {
      const { lateRank = flags.ranks - 1 } = flags;
      if (lateRank >= flags.ranks) command.error(`--late-rank ${lateRank} is no rank: give one from 0 to ${flags.ranks - 1}.`);
      process.exitCode = await stickiness(flags);
    });
}

async function stickiness(flags: StickinessFlags): Promise<number> {
  const machine = machineFacts();
  const { ranks, collectives, iterations, late, lateRank = flags.ranks - 1, seed } = flags;
  return runMeasurement(flags, async ({ signal, say }) => {
    const plans = [...new Set([0, late])].flatMap((lateMs) => (["fixed", "adaptive"] as const).map((policy) => ({ policy, lateMs })));
    const runs = await withProgress("Measuring", plans.length * iterations, async (progress) => {
      const done: StickinessRun[] = [];
      let count = 0;
      for (const { policy, lateMs } of plans) {
        const setting = { policy, lateMs, ranks, collectives, elements: flags.bytes / 4, iterations, lateRank, seed };
        const onIteration = (): void => {
          count += 1;
          progress.update(count, `${policy}${lateMs === 0 ? "" : ", one rank late"}`);
        };
        done.push(await runStickiness(setting, onIteration, signal));
      }
      return done;
    });
    const header = reportHeader(findRoot(), machine, "");
    const report: StickinessReport = { kind: "stickiness", header, ranks, collectives, iterations, lateRank, runs };
    const warning = busyWarning(machine);
    if (warning) say(`${out.yellow(wrap(warning))}\n`);
    say(`${describeHeader(header).join("\n")}\n\n${describeStickiness(report)}`);
    writeReports(flags, report);
  });
}
