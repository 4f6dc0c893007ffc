import type { PlanOptions, TrainOptions, TrainResult } from "@dfccl/train";
import { type Command, Option } from "commander";
import { checkMemory } from "../disorder/memory-need.js";
import { err, out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { type Interruption, watchForInterruption } from "../terminal/interruption.js";
import { withProgress } from "../terminal/progress.js";
import { say } from "../terminal/say.js";
import { formatBytes, formatCountOf } from "../terminal/table.js";
import { wrapOnTerminal } from "../terminal/wrap.js";
import { loadTrain } from "../training/load-train.js";
import { describeSynthetic, describeTraining, stepNote } from "../training/report.js";
import { loadWorkload, workloadNames } from "../workloads/load-workload.js";
import { elementsOf, scaled } from "../workloads/workload.js";
import { numberBetween, outputFolder, refuseIdle, wholeNumber } from "./options.js";

interface TrainFlags
  extends Pick<TrainOptions, "ranks" | "parallel" | "steps" | "microBatches" | "optimizer" | "learningRate" | "seed" | "schedule"> {
  readonly batch?: number;
  readonly workload: string;
  readonly synthetic?: string;
  readonly scale: number;
  readonly checkpoint?: string;
  readonly checkpointEvery?: number;
  readonly resume?: boolean;
  readonly json?: boolean;
}

/** Names of flags. */
const ofModels = [
  "parallel",
  "batch",
  "microBatches",
  "optimizer",
  "learningRate",
  "seed",
  "checkpoint",
  "checkpointEvery",
  "resume",
] as const satisfies readonly (keyof TrainFlags)[];

export function addTrainCommand(program: Command): void {
  program
    .command("train")
    .argument("[model]", "mnist, gpt, or synthetic: a model's gradients without the model")
    .summary("train a model with TensorFlow.js on several ranks, whose gradients need no order")
    .description(
      "Trains with TensorFlow.js, a thread a rank: handwritten digits by a convolutional net, or a small GPT on Shakespeare's " +
        "sonnets. Each gradient is averaged over the ranks as soon as the backward pass has computed it, in whatever order that " +
        "is. Needs the package @dfccl/train, and for digits the package mnist.",
    )
    .option("-r, --ranks <n>", "ranks, a thread each", wholeNumber(1, 64), 2)
    .option("-p, --parallel <how>", "how they share the work, as in dp=2,tp=2,pp=2 (default: by data alone)")
    .addOption(
      new Option("--schedule <name>", "what gives gradients their order; preemptive: nothing")
        .choices(["preemptive", "static", "coordinator", "learned"])
        .default("preemptive"),
    )
    .option("-w, --workload <name|file.json>", `for synthetic: ${workloadNames.join(", ")}, or a JSON file`, "resnet50")
    .option("--synthetic <name|file.json>", "short for: synthetic --workload")
    .option("--scale <share>", "for synthetic: shrink every tensor to this share of its elements", numberBetween(1e-6, 1), 1)
    .option("--steps <n>", "steps (default, as below: the model's)", wholeNumber(1, 1_000_000))
    .option("--batch <n>", "records of all ranks in a step", wholeNumber(1, 65_536))
    .option("--micro-batches <n>", "parts of a rank's records in a pipeline (default: twice its stages)", wholeNumber(1, 256))
    .addOption(new Option("--optimizer <name>", "TensorFlow.js's").choices(["sgd", "momentum", "adam"]))
    .option("--learning-rate <x>", "of the optimizer", numberBetween(0, 10))
    .option("--seed <n>", "seed of the first parameters and of the data's order", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("--checkpoint <folder>", "where to keep the last two checkpoints", outputFolder)
    .option("--checkpoint-every <n>", "steps between them (default: only when the run ends)", wholeNumber(1, 1_000_000))
    .option("--resume", "go on from the newest checkpoint that is whole")
    .option("--json", "print one JSON object instead of text: {losses: [...], samplesPerSecond, ...}")
    .addHelpText(
      "after",
      `
Examples:
  Handwritten digits on two ranks:
    $ dfccl train mnist
  A GPT by data, inside its layers and in a pipeline, on eight ranks:
    $ dfccl train gpt --ranks 8 --parallel dp=2,tp=2,pp=2
  The same schedule as Horovod's, for a script and for dfccl report:
    $ dfccl train mnist --schedule coordinator --steps 200 --json > run.json
  A hundredth of each of ResNet-50's gradients on four ranks:
    $ dfccl train synthetic --workload resnet50 --scale 0.01 --ranks 4
  Stop with Ctrl-C, and go on:
    $ dfccl train gpt --checkpoint gpt-run
    $ dfccl train gpt --checkpoint gpt-run --resume

${exitCodesText({ 0: "trained", 1: "failed, or a rank was lost", 2: "usage, or a plan that is impossible" }, "the checkpoint says where")}`,
    )
    .action(async (named: string | undefined, flags: TrainFlags, command: Command) => {
      const { synthetic } = flags;
      const model = named ?? (synthetic === undefined ? command.error("Say what to train: mnist, gpt or synthetic.") : "synthetic");
      if (synthetic !== undefined && model !== "synthetic")
        command.error(`--synthetic ${synthetic} is a model of its own: leave out ${model}.`);
      if (model === "synthetic") refuseIdle(command, ofModels, "is for models that are trained, not for their gradients alone");
      else refuseIdle(command, ["workload", "scale"], "is for synthetic");
      if (synthetic !== undefined) refuseIdle(command, ["workload"], "says the same as --synthetic: leave one of them out");
      if (flags.checkpoint === undefined) refuseIdle(command, ["checkpointEvery", "resume"], "needs --checkpoint FOLDER");
      using interruption = watchForInterruption();
      if (model === "synthetic") await reduceSynthetic({ ...flags, workload: synthetic ?? flags.workload }, interruption);
      else await trainModel(model, flags, interruption);
    });
}

async function trainModel(model: string, flags: TrainFlags, interruption: Interruption): Promise<void> {
  const { train, planTraining, InterruptedError } = await loadTrain();
  const {
    batch,
    checkpoint: folder,
    checkpointEvery: every,
    resume,
    json,
    workload: _workload,
    synthetic: _synthetic,
    scale: _scale,
    ...rest
  } = flags;
  const onCorrupt = (path: string, problem: string): void => {
    process.stderr.write(`${err.yellow(wrapOnTerminal(`${path} is corrupt (${problem}); the one before it is used.`))}\n`);
  };
  const checkpoint = folder === undefined ? undefined : { folder, every, resume, onCorrupt };
  const planned: PlanOptions = { ...rest, model, globalBatch: batch };
  const plan = planTraining(planned);
  const options: TrainOptions = { ...planned, checkpoint, signal: interruption.signal };
  const { ranks, parallel, steps, globalBatch, schedule } = plan;
  if (!json) {
    const how = `dp=${parallel.dp} tp=${parallel.tp} pp=${parallel.pp}`;
    const size = `${formatCountOf(steps, "step")} of ${formatCountOf(globalBatch, "record")}`;
    say(`${out.bold(model)}: ${formatCountOf(ranks, "rank")} (${how}), ${size}, ${schedule}\n`);
  }
  let result: TrainResult;
  try {
    result = await withProgress("Training", steps, (progress) =>
      train({ ...options, onStep: (step) => progress.update(step.step, stepNote({ ...step, globalBatch })) }),
    );
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    process.stderr.write(`${err.yellow(wrapOnTerminal(error.message))}\n`);
    process.exitCode = interruption.exitCode() ?? 1;
    return;
  }
  say(json ? JSON.stringify({ kind: "training", ...result }) : describeTraining(result));
}

async function reduceSynthetic(flags: TrainFlags, { signal }: Interruption): Promise<void> {
  const { trainSynthetic } = await loadTrain();
  const workload = scaled(loadWorkload(flags.workload), flags.scale);
  const { ranks, steps = 20, schedule = "preemptive", json } = flags;
  checkMemory(workload, ranks);
  const { tensors, name } = workload;
  if (!json) {
    const size = `${formatCountOf(tensors.length, "gradient")}, ${formatBytes(4 * elementsOf(workload))} a rank`;
    say(`${out.bold(name)}: ${size}, ${formatCountOf(ranks, "rank")}, ${formatCountOf(steps, "step")}, ${schedule}\n`);
  }
  const result = await withProgress("Reducing", steps, (progress) =>
    trainSynthetic({ tensors, ranks, steps, schedule, signal, onStep: (step) => progress.update(step) }),
  );
  // One sample a rank and step, so that the same fields can be read as of other models.
  const samplesPerSecond = ranks * result.stepsPerSecond;
  if (json) say(JSON.stringify({ kind: "synthetic", workload: name, ranks, steps, schedule, losses: [], samplesPerSecond, ...result }));
  else say(describeSynthetic(result));
  if (result.wrong > 0) process.exitCode = 1;
}
