import { type Command, Option } from "commander";
import { out } from "../terminal/colors.js";
import { withProgress } from "../terminal/progress.js";
import { formatCountOf } from "../terminal/table.js";
import { loadTrain } from "../training/load-train.js";
import { describeTraining, stepNote } from "../training/report.js";
import { numberBetween, wholeNumber } from "./options.js";

interface TrainFlags {
  readonly ranks: number;
  readonly schedule: "preemptive" | "static" | "coordinator" | "learned";
  readonly steps?: number;
  readonly batch?: number;
  readonly learningRate?: number;
  readonly seed: number;
  readonly json?: boolean;
}

export function addTrainCommand(program: Command): void {
  program
    .command("train")
    .argument("<model>", "mnist")
    .summary("trains a model with TensorFlow.js on several ranks, whose gradients need no order")
    .description(
      "Trains with TensorFlow.js, a thread a rank. Each gradient is averaged over the ranks as soon as the backward pass has " +
        "computed it, in whatever order that is. Needs the package @dfccl/train.",
    )
    .option("-r, --ranks <n>", "ranks, a thread each", wholeNumber(1, 64), 2)
    .addOption(
      new Option("--schedule <name>", "what gives gradients their order; preemptive: nothing")
        .choices(["preemptive", "static", "coordinator", "learned"])
        .default("preemptive"),
    )
    .option("--steps <n>", "steps (default: the model's)", wholeNumber(1, 1_000_000))
    .option("--batch <n>", "records of all ranks in a step (default: the model's)", wholeNumber(1, 65_536))
    .option("--learning-rate <x>", "default: the model's", numberBetween(0, 10))
    .option("--seed <n>", "seed of the first parameters and of the data's order", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("--json", "print one JSON object instead of text: {losses: [...], samplesPerSecond, ...}")
    .addHelpText(
      "after",
      `
Examples:
  Handwritten digits on two ranks:
    $ dfccl train mnist
  The same by Horovod's protocol, for a script:
    $ dfccl train mnist --ranks 4 --schedule coordinator --steps 100 --json

Exit codes:
  0  trained
  1  failed
  2  usage, or a plan that is impossible`,
    )
    .action(trainModel);
}

async function trainModel(model: string, flags: TrainFlags): Promise<void> {
  const { train, describePlan } = await loadTrain();
  const { ranks, schedule, seed } = flags;
  const options = { model, ranks, schedule, seed, steps: flags.steps, globalBatch: flags.batch, learningRate: flags.learningRate };
  const { steps, globalBatch } = describePlan(options);
  if (!flags.json) {
    say(
      `${out.bold(model)}: ${formatCountOf(ranks, "rank")}, ${formatCountOf(steps, "step")} of ${formatCountOf(globalBatch, "record")}, ${schedule}\n`,
    );
  }
  const result = await withProgress("Training", steps, (progress) =>
    train({ ...options, onStep: (step) => progress.update(step.step, stepNote({ ...step, globalBatch })) }),
  );
  say(flags.json ? JSON.stringify(result) : describeTraining(result));
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
