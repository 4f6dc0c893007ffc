import type { SchedulePolicy } from "@dfccl/scheduler";
import { type Candidate, candidateOf, type Ranges, saveTuning, type TuneOptions, type TuneResult, tune } from "@dfccl/scheduler/tuner";
import type { Command } from "commander";
import { checkMemory } from "../disorder/memory-need.js";
import { requireOutput } from "../outputs/require-output.js";
import { out, wantsColors } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { watchForInterruption } from "../terminal/interruption.js";
import { withProgress } from "../terminal/progress.js";
import { say } from "../terminal/say.js";
import { formatCountOf } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { tunablePolicy } from "../tuning/load-policy.js";
import { machineFingerprint } from "../tuning/machine-fingerprint.js";
import { measureOrders, type TunedWork } from "../tuning/measure-orders.js";
import { describeTuning, tuningVerdict } from "../tuning/report.js";
import { defaultTuningPath } from "../tuning/tuning-path.js";
import { loadWorkload, workloadNames } from "../workloads/load-workload.js";
import { scaled } from "../workloads/workload.js";
import { numberBetween, outputFileOf, wholeNumber } from "./options.js";
import { addTuneProgramsCommand } from "./tune-programs.js";

interface TuneFlags {
  readonly workload: string;
  readonly scale: number;
  readonly ranks: number;
  readonly sync: number;
  readonly seed: number;
  readonly quick?: boolean;
  readonly output?: string;
  readonly json?: boolean;
}

// Every threshold lies below every quit period: a task that outwaits the daemon would never be preempted.
const ranges: Ranges = { initialThreshold: [1, 64], raiseFactor: [1, 16], idleVisits: [65, 8192] };
const quick: Partial<TuneOptions> = { gridPoints: 5, zooms: 1, rounds: 3 };

export function addTuneCommand(program: Command): void {
  const command = program
    .command("tune")
    // So that what stands behind "programs" is its, though some options have the same names.
    .enablePositionalOptions()
    .summary("find the scheduling figures that suit this machine, by measuring")
    .description(
      "Finds the initial spin threshold, its raise factor and the quit period by measuring random orders on this machine, each " +
        "candidate beside a reference, and shows the curve behind its choice: T(N) = a·N + b/N + c, the cost of waiting against " +
        "the cost of being preempted. Keep the machine quiet meanwhile.",
    )
    .option("-w, --workload <name|file.json>", `${workloadNames.join(", ")}, or a JSON file`, "resnet50")
    .option("--scale <share>", "shrink every tensor to this share of its elements", numberBetween(1e-6, 1), 0.01)
    .option("-r, --ranks <n>", "ranks in this process", wholeNumber(2, 256), 8)
    .option("-s, --sync <p>", "probability of a device synchronization after each submission", numberBetween(0, 1), 0.01)
    .option("--seed <n>", "seed of the orders and of the search", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("-q, --quick", "fewer values and repetitions: less sure, in a fifth of the time")
    .option("--output <file>", "where to store the result (default: tuning.json in $XDG_CONFIG_HOME/dfccl)", outputFileOf(".json"))
    .option("--json", "print one JSON object instead of text")
    .addHelpText(
      "after",
      `
Examples:
  A first look, then the main job with what it found:
    $ dfccl tune --quick
    $ dfccl disorder --policy tuned
  For another number of ranks, stored elsewhere:
    $ dfccl tune -r 16 --output sixteen.json
    $ dfccl disorder -r 16 --policy ./sixteen.json

${exitCodesText({ 0: "measured and stored", 1: "failed; nothing is stored", 2: "usage" }, "nothing is stored")}`,
    )
    .action(async (flags: TuneFlags) => {
      process.exitCode = await runTune(flags);
    });
  addTuneProgramsCommand(command);
}

async function runTune(flags: TuneFlags): Promise<number> {
  const { ranks, sync, seed } = flags;
  const workload = scaled(loadWorkload(flags.workload), flags.scale);
  checkMemory(workload, ranks);
  const path = flags.output ?? defaultTuningPath();
  // Before the minutes of measuring, not after them.
  requireOutput(path, "Give --output, or set XDG_CONFIG_HOME to a folder that can be written into.");
  const base = tunablePolicy();
  const start = startWithin(candidateOf(base));
  const work: TunedWork = { workload, ranks, sync, seed, iterations: flags.quick ? 3 : 5 };
  if (!flags.json) {
    say(
      `${out.bold("Tuning")} by random orders of ${workload.name}, ${formatCountOf(ranks, "rank")}, synchronizations at ${sync}, seed ${seed}\n`,
    );
  }
  using interruption = watchForInterruption();
  const began = performance.now();
  const result = await search(work, start, base, flags, interruption.signal);
  if (result === undefined) {
    process.stderr.write("Interrupted: nothing is stored.\n");
    return interruption.exitCode() ?? 1;
  }
  await saveTuning(path, result, machineFingerprint(), new Date());
  if (flags.json) {
    const { samples, ...found } = result;
    say(JSON.stringify({ path, start, ...found, measurements: samples.length, seconds: (performance.now() - began) / 1000 }));
  } else {
    say(`${describeTuning(result, start, wantsColors(process.stdout))}\n`);
    say(out.green(wrap(tuningVerdict(result, start))));
    say(wrap(`Stored in ${path}; dfccl disorder --policy ${flags.output ? path : "tuned"} uses it.`));
  }
  return 0;
}

function startWithin(candidate: Candidate): Candidate {
  const [least, most] = ranges.idleVisits;
  return { ...candidate, idleVisits: Math.min(Math.max(candidate.idleVisits, least), most) };
}

async function search(
  work: TunedWork,
  start: Candidate,
  base: SchedulePolicy,
  { quick: isQuick, seed }: TuneFlags,
  signal: AbortSignal,
): Promise<TuneResult | undefined> {
  const measure = measureOrders(work, base);
  let measurements = 0;
  let looked = 0;
  const effort = isQuick ? quick : {};
  const looksEach = (effort.zooms ?? 2) + 2;
  try {
    return await withProgress("Measuring", 3 * looksEach, (progress) => {
      const show = (): void => progress.update(looked, formatCountOf(measurements, "measurement"));
      return tune({
        ...effort,
        start,
        ranges,
        seed,
        signal,
        measure: (candidate) => {
          measurements += 1;
          show();
          return measure(candidate);
        },
        onProgress: () => {
          looked += 1;
          show();
        },
      });
    });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
