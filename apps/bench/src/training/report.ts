import type { SyntheticResult, TrainingStep, TrainResult } from "@dfccl/train";
import { formatCount, formatSeconds, formatTable } from "../terminal/table.js";

/** What stands beside the progress bar. */
export function stepNote({ step, steps, loss, samplesPerSecond, globalBatch }: TrainingStep & { readonly globalBatch: number }): string {
  const left = ((steps - step) * globalBatch) / samplesPerSecond;
  const eta = samplesPerSecond > 0 ? ` · ${formatCount(samplesPerSecond)}/s${left > 0 ? ` · ${formatSeconds(left)} left` : ""}` : "";
  return `loss ${loss.toFixed(4)}${eta}`;
}

export function describeTraining({ losses, samplesPerSecond, accuracy, steps, resumedAt, checkpoint }: TrainResult): string {
  const middle = losses[Math.floor(losses.length / 2)];
  return formatTable([
    ["steps", formatCount(steps)],
    ...(resumedAt === undefined ? [] : [["resumed after step", formatCount(resumedAt)]]),
    ["loss, first step", losses[0]?.toFixed(4) ?? "–"],
    ["loss, half way", middle?.toFixed(4) ?? "–"],
    ["loss, last step", losses.at(-1)?.toFixed(4) ?? "–"],
    ["samples a second", formatCount(samplesPerSecond)],
    ["right on the test part", `${(100 * accuracy).toFixed(2)} %`],
    ...(checkpoint === undefined ? [] : [["checkpoint", checkpoint]]),
  ]);
}

export function describeSynthetic({ wrong, stepsPerSecond, stepMs }: SyntheticResult): string {
  const sorted = [...stepMs].sort((a, b) => a - b);
  const at = (share: number): string => formatSeconds((sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN) / 1000);
  return formatTable([
    ["steps a second", stepsPerSecond.toPrecision(3)],
    ["a step, median", at(0.5)],
    ["a step, p99", at(0.99)],
    ["wrong averages", formatCount(wrong)],
  ]);
}
