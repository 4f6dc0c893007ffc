import { type Command, Option } from "commander";
import pc from "picocolors";
import { type ControlResult, type DisorderOptions, type DisorderResult, runControl, runDisorder } from "../disorder/run-disorder.js";
import { orderKinds, type OrderKind } from "../disorder/submission-order.js";
import { noProgress, startProgress } from "../terminal/progress.js";
import { formatBytes, formatCount, formatSeconds, formatTable } from "../terminal/table.js";
import { loadWorkload, workloadNames } from "../workloads/load-workload.js";
import { elementsOf, scaled } from "../workloads/workload.js";
import { numberBetween, wholeNumber } from "./options.js";

interface DisorderFlags {
  readonly workload: string;
  readonly scale: number;
  readonly ranks: number;
  readonly iterations: number;
  readonly order: OrderKind;
  readonly sync: number;
  readonly seed?: number;
  readonly control?: boolean;
  readonly policy: "default" | "fixed" | "decreasing" | "adaptive" | "priority";
  readonly json?: boolean;
}

export function addDisorderCommand(program: Command): void {
  program
    .command("disorder")
    .summary("every rank submits a model's gradients in an order of its own; all complete, bit for bit")
    .description(
      "Every rank submits a model's gradients as all-reduces, in an order of its own that is new in each iteration, with device\n" +
        "synchronizations in between. Without preemption such orders deadlock; here all complete, and every result is compared bit\n" +
        "for bit.",
    )
    .option("-w, --workload <name|file.json>", `${workloadNames.join(", ")}, or a JSON file`, "resnet50")
    .option("--scale <share>", "shrink every tensor to this share of its elements", numberBetween(1e-6, 1), 1)
    .option("-r, --ranks <n>", "ranks in this process", wholeNumber(1, 256), 8)
    .option("-i, --iterations <n>", "iterations", wholeNumber(1, 1_000_000), 20)
    .addOption(new Option("-o, --order <kind>", "order of submission on each rank").choices(orderKinds).default("random"))
    .option("-s, --sync <p>", "probability of a device synchronization after each submission", numberBetween(0, 1), 0.01)
    .option("--seed <n>", "seed of orders and data (default: a new one, printed)", wholeNumber(0, 2 ** 31 - 1))
    .addOption(
      new Option("--policy <name>", "scheduling policy").choices(["default", "fixed", "decreasing", "adaptive", "priority"]).default("default"),
    )
    .option("-c, --control", "first run the same orders without preemption, and show the deadlock that they end in")
    .option("--json", "print one JSON object instead of text")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl disorder --control                               ResNet-50 on 8 ranks, first without preemption
  $ dfccl disorder -w gpt2 --scale 0.01 -r 4 -o reverse    a small GPT-2 in opposite orders
  $ dfccl disorder --sync 0.2 --seed 7 --json              many synchronizations, repeatable, for a script

Exit codes:
  0  everything completed bit for bit (and, with --control, the control deadlocked)
  1  something did not
  2  usage`,
    )
    .action(async (flags: DisorderFlags) => {
      process.exitCode = await disorder(flags);
    });
}

async function disorder(flags: DisorderFlags): Promise<number> {
  const workload = scaled(loadWorkload(flags.workload), flags.scale);
  const seed = flags.seed ?? Math.floor(Math.random() * 2 ** 31);
  const { ranks, iterations, order, sync, policy } = flags;
  const options: DisorderOptions = { workload, ranks, iterations, order, sync, seed, policy, tensors: workload.tensors.length };
  const say = (text: string): void => {
    if (!flags.json) process.stdout.write(`${text}\n`);
  };

  say(
    `${pc.bold(workload.name)}: ${workload.tensors.length} tensors, ${formatBytes(4 * elementsOf(workload))} a rank, ` +
      `${ranks} ranks, ${iterations} iterations, ${order} orders, seed ${seed}\n`,
  );
  let control: ControlResult | undefined;
  if (flags.control) {
    say("Control: the same orders, nothing preempted, one collective at a time on each rank.");
    control = await runControl(options);
    say(`  ${control.deadlocked ? pc.yellow(control.text) : "It completed: these orders don't deadlock."}\n`);
  }
  const progress = flags.json ? noProgress : startProgress("Preemptive", iterations);
  const result = await runDisorder(options, progress);
  progress.stop();
  const exact = result.completed === result.expected && result.wrong === 0;
  const asExpected = exact && (control === undefined || control.deadlocked);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ workload: workload.name, ranks, iterations, order, sync, seed, ...result, ...(control ? { control } : {}) })}\n`);
  } else {
    say(describe(result));
    say(`\n${(asExpected ? pc.green : pc.red)(verdict(result, control, exact))}`);
  }
  return asExpected ? 0 : 1;
}

function describe(result: DisorderResult): string {
  return formatTable([
    ["collectives completed", `${formatCount(result.completed)} of ${formatCount(result.expected)}`],
    ["wrong results", formatCount(result.wrong)],
    ["device synchronizations", formatCount(result.synchronizations)],
    ["preemptions a block", formatCount(result.preemptionsPerBlock)],
    ["voluntary quits", formatCount(result.quits)],
    ["task-queue length, mean", result.meanQueueLength.toFixed(1)],
    ["task-queue length, most", formatCount(result.maxQueueLength)],
    ["latency, p50", formatSeconds(result.latencyP50Ms / 1000)],
    ["latency, p99", formatSeconds(result.latencyP99Ms / 1000)],
    ["bus bandwidth", `${result.busBandwidthGBs.toPrecision(3)} GB/s`],
    ["time", formatSeconds(result.seconds)],
  ]);
}

function verdict(result: DisorderResult, control: ControlResult | undefined, exact: boolean): string {
  if (!exact) return `${result.expected - result.completed} collectives did not complete, ${result.wrong} results are wrong.`;
  const done = `all ${formatCount(result.expected)} collectives completed, bit for bit`;
  if (!control) return `In these orders ${done}.`;
  return control.deadlocked
    ? `Orders that deadlock without preemption: here ${done}.`
    : `Here ${done}, but so did the control: these orders show nothing. Try --order random.`;
}
