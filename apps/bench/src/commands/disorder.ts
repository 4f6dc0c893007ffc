import { type BackendChoice, type Launch, openWorld, readLaunch } from "@dfccl/core";
import { InvalidArgumentError } from "@dfccl/primitives";
import { type Command, Option } from "commander";
import { checkMemory, neededBytes } from "../disorder/memory-need.js";
import { describeControl, describeResult, isExact, verdict } from "../disorder/report.js";
import { type ControlResult, runControl } from "../disorder/run-control.js";
import { type DisorderOptions, type DisorderResult, type RunContext, runDisorder } from "../disorder/run-disorder.js";
import { runInProcesses } from "../disorder/run-in-processes.js";
import { makeBuffers } from "../disorder/setting.js";
import { type OrderKind, orderKinds } from "../disorder/submission-order.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { type Interruption, watchForInterruption } from "../terminal/interruption.js";
import { withNote } from "../terminal/note.js";
import { withProgress } from "../terminal/progress.js";
import { say } from "../terminal/say.js";
import { formatBytes, formatCountOf } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { loadPolicy, policyHelp } from "../tuning/load-policy.js";
import { loadWorkload, workloadNames } from "../workloads/load-workload.js";
import { elementsOf, scaled, type Workload } from "../workloads/workload.js";
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
  readonly policy: string;
  readonly backend: BackendChoice;
  readonly json?: boolean;
}

export function addDisorderCommand(program: Command): void {
  program
    .command("disorder")
    .summary("every rank submits a model's gradients in an order of its own; all complete")
    .description(
      "Every rank submits a model's gradients as all-reduces, in an order of its own that is new in each iteration, with device " +
        "synchronizations in between. Without preemption such orders deadlock; here all complete, and every result is compared " +
        "bit for bit.",
    )
    .option("-w, --workload <name|file.json>", `${workloadNames.join(", ")}, or a JSON file`, "resnet50")
    .option("--scale <share>", "shrink every tensor to this share of its elements", numberBetween(1e-6, 1), 1)
    .option(
      "-r, --ranks <n>",
      "ranks in this process; where a launcher has started it: as many as it says, one a process",
      wholeNumber(1, 256),
      8,
    )
    .option("-i, --iterations <n>", "iterations", wholeNumber(1, 1_000_000), 20)
    .addOption(new Option("-o, --order <kind>", "order of submission on each rank").choices(orderKinds).default("random"))
    .option("-s, --sync <p>", "probability of a device synchronization after each submission", numberBetween(0, 1), 0.01)
    .option("--seed <n>", "seed of orders and data (default: a new one, printed)", wholeNumber(0, 2 ** 31 - 1))
    .option("--policy <name|file.json>", policyHelp, "default")
    .addOption(new Option("--backend <name>", "cpu, cuda (NVIDIA GPUs), or auto").choices(["cpu", "cuda", "auto"]).default("cpu"))
    .option("-c, --control", "first run the same orders without preemption, and show the deadlock")
    .option("--json", "print one JSON object instead of text")
    .addHelpText(
      "after",
      `
Examples:
  ResNet-50 on 8 ranks, first without preemption:
    $ dfccl disorder --control
  A small GPT-2 in opposite orders:
    $ dfccl disorder -w gpt2 --scale 0.01 -r 4 -o reverse
  On this machine's GPUs, a rank each:
    $ dfccl disorder --backend cuda -r 4
  Many synchronizations, repeatable, for a script:
    $ dfccl disorder --sync 0.2 --seed 7 --json
  One rank a process, as training jobs run:
    $ dfccl launch -n 8 dfccl disorder
    $ mpirun -n 8 npx dfccl disorder
    $ dfccl launch -n 4 dfccl disorder --backend cuda

A workload of your own is a JSON file:
  {"name": "mine", "tensors": [{"name": "w", "elements": 1000}]}

${exitCodesText({ 0: "everything completed bit for bit (and, with --control, the control deadlocked)", 1: "something did not", 2: "usage" }, "what was done until then is printed")}`,
    )
    .action(async (flags: DisorderFlags) => {
      process.exitCode = await disorder(flags);
    });
}

async function disorder(flags: DisorderFlags): Promise<number> {
  const workload = scaled(loadWorkload(flags.workload), flags.scale);
  const launch = readLaunch();
  if (launch !== undefined) return disorderOfOne(launch, flags, workload);
  const { ranks, iterations, order, sync } = flags;
  const seed = flags.seed ?? Math.floor(Math.random() * 2 ** 31);
  const policy = await loadPolicy(flags.policy);
  const options: DisorderOptions = { workload, ranks, iterations, order, sync, seed, policy, backend: flags.backend };
  checkMemory(workload, ranks);
  checkBackend(flags.backend);
  using interruption = watchForInterruption();

  if (!flags.json) sayWhat(options, formatCountOf(ranks, "rank"));
  const { control, result } = await runBoth(options, flags, interruption);
  const isShown = result !== undefined && isExact(result) && (control === undefined || control.deadlocked);
  const code = interruption.exitCode() ?? (isShown ? 0 : 1);
  if (flags.json) {
    const described = { workload: workload.name, ranks, iterations, order, sync, seed, policy: flags.policy };
    say(JSON.stringify({ ...described, ...(result ?? { partial: true }), control: control ?? null }));
  } else if (result) {
    say(`${describeResult(result)}\n`);
    say((code === 0 ? out.green : out.red)(wrap(verdict(result, control))));
  }
  return code;
}

/** Before buffers are made: a GPU that is missing is told at once. */
function checkBackend(backend: BackendChoice): void {
  if (backend === "cuda") openWorld({ ranks: 1, backend })[Symbol.dispose]();
}

function sayWhat({ workload, iterations, order, seed }: Omit<DisorderOptions, "ranks">, ranks: string): void {
  const size = `${formatCountOf(workload.tensors.length, "tensor")}, ${formatBytes(4 * elementsOf(workload))} a rank`;
  say(`${out.bold(workload.name)}: ${size}, ${ranks}, ${formatCountOf(iterations, "iteration")},\n${order} orders, seed ${seed}\n`);
}

/** This process is one rank of a job. Rank 0 tells what all of them have done. */
async function disorderOfOne(launch: Launch, flags: DisorderFlags, workload: Workload): Promise<number> {
  const { iterations, order, sync } = flags;
  if (flags.control) throw new InvalidArgumentError("control", true, "left out where each rank is a process");
  // The seed must be the same in all processes, which have only the job's name in common.
  const seed = flags.seed ?? seedOf(launch.job);
  const { backend } = flags;
  const options = { workload, iterations, order, sync, seed, policy: await loadPolicy(flags.policy), backend };
  const isSpeaker = launch.rank === 0;
  const ranks = `${launch.size} processes, started by ${launch.launcher}`;
  if (isSpeaker && !flags.json) sayWhat(options, ranks);
  const { result } = await runInProcesses(launch, options);
  const isShown = isExact(result);
  if (isSpeaker && flags.json) {
    const described = { workload: workload.name, ranks: launch.size, launcher: launch.launcher, iterations, order, sync, seed };
    say(JSON.stringify({ ...described, policy: flags.policy, ...result, control: null }));
  } else if (isSpeaker) {
    say(`${describeResult(result)}\n`);
    say((isShown ? out.green : out.red)(wrap(verdict(result, undefined))));
  }
  return isShown ? 0 : 1;
}

function seedOf(job: string): number {
  let hash = 17;
  for (const character of job) hash = (31 * hash + (character.codePointAt(0) ?? 0)) % 2 ** 31;
  return hash;
}

interface Outcome {
  readonly control?: ControlResult;
  /** Missing where the control was interrupted. */
  readonly result?: DisorderResult;
}

async function runBoth(options: DisorderOptions, flags: DisorderFlags, { signal }: Interruption): Promise<Outcome> {
  const { workload, ranks, iterations, seed } = options;
  const total = ranks * workload.tensors.length * iterations;
  const note = `Making ${formatBytes(neededBytes(workload, ranks))} of buffers`;
  const buffers = await withNote(note, async () => makeBuffers(workload, ranks, seed));
  const run = <T>(title: string, job: (options: DisorderOptions, context: RunContext) => Promise<T>): Promise<T> =>
    withProgress(title, total, (progress) => job(options, { progress, signal, buffers }));
  let control: ControlResult | undefined;
  if (flags.control) {
    if (!flags.json) say("Control: the same orders, nothing preempted, one collective at a time on a rank.");
    control = await run("Control", runControl);
    if (!flags.json) say(`${(control.deadlocked ? out.yellow : String)(describeControl(control))}\n`);
    if (signal.aborted) return { control };
  }
  const result = await run("Preemptive", runDisorder);
  return { result, ...(control ? { control } : {}) };
}
