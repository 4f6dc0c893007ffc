import type { ScheduleName } from "@dfccl/actor";
import { runRanks } from "../host/run-ranks.js";
import { workerFile } from "../shipped-file.js";
import type { SyntheticArgs } from "../synthetic-rank.js";

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

/**
 * Reduces a model's list of gradients, without the model: what training costs beside computing.
 * @throws {RankLostError}, {InterruptedError}
 */
export async function trainSynthetic({ tensors, steps, ranks, schedule, onStep, signal }: SyntheticOptions): Promise<SyntheticResult> {
  const ended = new Array<number>(steps).fill(0);
  const stepMs: number[] = [];
  let last: number | undefined;
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
  const seconds = stepMs.reduce((sum, ms) => sum + ms, 0) / 1000;
  return { wrong: wrong.reduce<number>((sum, count) => sum + Number(count), 0), stepMs, stepsPerSecond: stepMs.length / seconds };
}
