import { type Command, InvalidArgumentError as InvalidOption } from "commander";
import { checkMemory } from "../disorder/memory-need.js";
import { findRoot } from "../peers/native-programs.js";
import { busyWarning, machineFacts, reportHeader } from "../peers/report-header.js";
import { runMeasurement } from "../peers/run-measurement.js";
import { type ReportFlags, writeReports } from "../peers/write-reports.js";
import { contenderNames, measureDataParallel } from "../schedules/data-parallel.js";
import { measureHybrid } from "../schedules/hybrid.js";
import { type HybridSetting, hybridSettings } from "../schedules/hybrid-settings.js";
import { type DataParallelResult, describeSchedules, type HybridResult, schedulesMarkdown } from "../schedules/report.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { withProgress } from "../terminal/progress.js";
import { wrap } from "../terminal/wrap.js";
import { loadWorkload, workloadNames } from "../workloads/load-workload.js";
import { elementsOf, scaled } from "../workloads/workload.js";
import { numberBetween, outputFile, outputFileOrDash, refuseIdle, wholeNumber } from "./options.js";

interface SchedulesFlags extends ReportFlags {
  readonly workload: readonly string[];
  readonly scale: number;
  readonly ranks: number;
  readonly copies?: boolean;
  readonly hybrid: readonly string[];
  readonly hybridScale: number;
  readonly rounds: number;
  readonly steps: number;
  readonly computeMs: number;
  readonly jitter: number;
  readonly seed: number;
}

const hybridNames = hybridSettings.map(({ name }) => name);

export function addBenchSchedulesCommand(parent: Command): void {
  parent
    .command("schedules")
    .summary("preemptive beside static sorting, a coordinator and a learned order")
    .description(
      "Trains with synthetic gradients of real models under each schedule in turns, and compares throughput and its variation; " +
        "then in several kinds of parallelism, beside an order fixed by hand. Keep the machine quiet meanwhile.",
    )
    .option("-w, --workload <list>", `${workloadNames.join(", ")}, JSON files; none: no data parallelism`, listOrNone, ["resnet50"])
    .option("--scale <share>", "shrink every gradient to this share of its elements", numberBetween(1e-6, 1), 1)
    .option("-r, --ranks <n>", "ranks of data parallelism", wholeNumber(2, 64), 4)
    .option("--copies", "also a coordinator that fuses by copying, as Horovod does on a GPU")
    .option("--hybrid <list>", `${hybridNames.join(", ")}; none; all`, hybridOf, [])
    .option("--hybrid-scale <share>", "the same for --hybrid", numberBetween(1e-6, 1), 0.1)
    .option("-n, --rounds <n>", "rounds, each with every schedule", wholeNumber(1, 1000), 20)
    .option("--steps <n>", "steps of a schedule in a round", wholeNumber(1, 1000), 2)
    .option("--compute-ms <ms>", "what a rank computes in a step", numberBetween(0, 60_000), 60)
    .option("--jitter <share>", "how far a rank's computing may deviate", numberBetween(0, 1), 0.05)
    .option("--seed <n>", "seed of orders and deviations", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("--json <file>", "write header and figures; - for standard output, instead of text", outputFileOrDash)
    .option("--markdown <file>", "write the page for docs/benchmarks", outputFile)
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl bench schedules --rounds 3
  $ dfccl bench schedules -w resnet50,vit-b16,gpt2 --scale 0.25
  $ dfccl bench schedules -w none --hybrid all

${exitCodesText({ 0: "measured", 1: "failed, or a result was wrong", 2: "usage" }, "no file is written")}`,
    )
    .action(async (flags: SchedulesFlags, command: Command) => {
      if (flags.hybrid.length === 0) refuseIdle(command, ["hybridScale"], "is for --hybrid");
      if (flags.workload.length === 0) refuseIdle(command, ["scale", "ranks", "copies"], "is for --workload");
      process.exitCode = await benchSchedules(flags);
    });
}

async function benchSchedules(flags: SchedulesFlags): Promise<number> {
  const { ranks, rounds, steps, computeMs, jitter, seed } = flags;
  const workloads = flags.workload.map((name) => scaled(loadWorkload(name), flags.scale));
  const settings = hybridSettings.filter(({ name }) => flags.hybrid.includes(name));
  for (const workload of workloads) checkMemory(workload, ranks);
  const schedules = contenderNames.filter((name) => flags.copies || name !== "coordinator, copying");
  const machine = machineFacts();
  return runMeasurement(flags, async ({ signal, say }) => {
    const warning = busyWarning(machine);
    if (warning) say(`${out.yellow(wrap(warning))}\n`);
    const dataParallel: DataParallelResult[] = [];
    const hybrid: HybridResult[] = [];
    const total = rounds * steps * (workloads.length * schedules.length + settings.length * 2);
    await withProgress("Measuring", total, async (progress) => {
      let done = 0;
      const shared = { rounds, steps, computeMs, jitter, seed, signal };
      const count = (title: string) => (contender: string) => {
        done += 1;
        progress.update(done, `${title}, ${contender}`);
      };
      for (const workload of workloads) {
        const timings = await measureDataParallel({ ...shared, workload, ranks, schedules, onStep: count(workload.name) });
        dataParallel.push({ workload: workload.name, bytes: 4 * elementsOf(workload), ranks, computeMs, timings });
      }
      for (const setting of settings) hybrid.push(await measureSetting(setting, flags, { ...shared, onStep: count(setting.name) }));
    });
    const header = { ...reportHeader(findRoot(), machine, ""), rounds, steps, jitter, seed };
    const report = { kind: "schedules" as const, header, dataParallel, hybrid };
    say(describeSchedules(report));
    writeReports(flags, report, schedulesMarkdown);
  });
}

type Shared = Omit<Parameters<typeof measureHybrid>[0], "programs">;

async function measureSetting({ name, programs }: HybridSetting, flags: SchedulesFlags, shared: Shared): Promise<HybridResult> {
  const built = programs(flags.hybridScale);
  return { setting: name, ranks: built.ranks, computeMs: flags.computeMs, timings: await measureHybrid({ ...shared, programs: built }) };
}

function listOrNone(text: string): string[] {
  return text === "none" ? [] : text.split(",");
}

function hybridOf(text: string): string[] {
  if (text === "all") return hybridNames;
  const names = listOrNone(text);
  const unknown = names.find((name) => !hybridNames.includes(name));
  if (unknown !== undefined) throw new InvalidOption(`${unknown} is none of ${hybridNames.join(", ")}.`);
  return names;
}
