import type { ScheduleName } from "@dfccl/actor";
import { checkInteger, checkText, type OptionNames } from "@dfccl/primitives";
import { runRanks } from "../host/run-ranks.js";
import { checkCallback, readList, readOptions } from "../read-options.js";
import { workerFile } from "../shipped-file.js";
import type { SyntheticArgs } from "../synthetic-rank.js";
import { mostRanks, mostSteps } from "./plan.js";

export interface SyntheticOptions extends SyntheticArgs {
  readonly ranks: number;
  readonly schedule: ScheduleName;
  readonly onStep?: ((step: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SyntheticResult {
  /** Averages that were wrong, on all ranks. */
  readonly wrong: number;
  /** Milliseconds between the ends of steps. */
  readonly stepMs: readonly number[];
  readonly stepsPerSecond: number;
}

const optionNames: OptionNames<SyntheticOptions> = { tensors: true, steps: true, ranks: true, schedule: true, onStep: true, signal: true };
const tensorNames = { name: true, elements: true } as const;

/**
 * Reduces a model's list of gradients, without the model: what training costs beside computing.
 * @throws {InvalidArgumentError}, {UnknownOptionError}, {RankLostError}, {InterruptedError}
 */
export async function trainSynthetic(options: SyntheticOptions): Promise<SyntheticResult> {
  const read = readOptions(options, optionNames, "an object such as { tensors, steps: 10, ranks: 2 }");
  const { steps, ranks, schedule, onStep, signal } = read;
  checkInteger("steps", steps, 1, mostSteps);
  checkInteger("ranks", ranks, 1, mostRanks);
  checkCallback("onStep", onStep);
  const tensors = readList("tensors", read.tensors, "a list of { name, elements }").map((tensor) => {
    const { name, elements } = readOptions(tensor, tensorNames, 'an object such as { name: "w", elements: 4 }');
    checkText("tensors[].name", name, "a name");
    checkInteger("tensors[].elements", elements, 1);
    return { name, elements };
  });
  const ended = new Array<number>(steps).fill(0);
  const stepMs: number[] = [];
  let last: number | undefined;
  const began = performance.now();
  const wrong = await runRanks({
    ranks,
    schedule,
    args: { tensors, steps } satisfies SyntheticArgs,
    program: workerFile("synthetic-rank"),
    signal,
    onReport(_rank, report) {
      const step = Number(report);
      ended[step] = (ended[step] ?? 0) + 1;
      if (ended[step] < ranks) return;
      const now = performance.now();
      if (last !== undefined) stepMs.push(now - last);
      last = now;
      onStep?.(step + 1);
    },
  });
  // One step ends once only: the start of its ranks counts then.
  const counted = steps === 1 ? [(last ?? began) - began] : stepMs;
  const seconds = counted.reduce((sum, ms) => sum + ms, 0) / 1000;
  return { wrong: wrong.reduce<number>((sum, count) => sum + Number(count), 0), stepMs, stepsPerSecond: counted.length / seconds };
}
