import type { TrainingStep } from "./training-step.js";

/** Puts the losses of the data's parts together, and tells how fast the steps follow each other. */
export class LossCurve {
  /** Of the global batch, step by step. */
  readonly losses: number[];
  samplesPerSecond = 0;
  /** Milliseconds between the ends of steps. */
  readonly stepMs: number[] = [];
  private readonly first: number;
  private readonly sums: { sum: number; parts: number }[] = [];
  private begin: number | undefined;
  private last = 0;

  /** @param former - losses of the steps that a former run has done. */
  constructor(
    private readonly run: { readonly dp: number; readonly steps: number; readonly globalBatch: number },
    former: readonly number[],
    private readonly onStep: ((step: TrainingStep) => void) | undefined,
  ) {
    this.losses = [...former];
    this.first = former.length;
  }

  /** @param step - from 0. */
  add(step: number, loss: number): void {
    const entry = this.sums[step] ?? { sum: 0, parts: 0 };
    this.sums[step] = entry;
    entry.sum += loss;
    entry.parts += 1;
    const { dp, steps, globalBatch } = this.run;
    if (entry.parts < dp) return;
    const now = performance.now();
    this.losses[step] = entry.sum / dp;
    if (this.begin === undefined) this.begin = now;
    else this.stepMs.push(now - this.last);
    this.last = now;
    const seconds = (now - this.begin) / 1000;
    if (seconds > 0) this.samplesPerSecond = ((step - this.first) * globalBatch) / seconds;
    this.onStep?.({ step: step + 1, steps, loss: entry.sum / dp, samplesPerSecond: this.samplesPerSecond });
  }
}
