import { formatCount, formatCountOf, formatSeconds, formatTable } from "../terminal/table.js";
import { textWidth, wrap } from "../terminal/wrap.js";
import { describeCycle } from "./deadlock-text.js";
import type { ControlResult } from "./run-control.js";
import type { DisorderResult } from "./run-disorder.js";

/** Whether everything completed with the right bits. */
export function isExact({ completed, expected, wrong }: DisorderResult): boolean {
  return completed === expected && wrong === 0;
}

export function describeControl({ deadlocked, cycle, completed, partial }: ControlResult): string {
  if (partial) return "  Interrupted before it came to an end.";
  if (!deadlocked) return "  It completed: these orders do not deadlock.";
  const lines = describeCycle(cycle).map((line) => wrap(line, textWidth(), line.startsWith("where") ? 6 : 4));
  return [`  Deadlock, after ${formatCountOf(completed, "completion")}:`, ...lines, "    and so on, round in a circle."].join("\n");
}

export function describeResult(result: DisorderResult): string {
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

/** What the run has shown, in one sentence. */
export function verdict(result: DisorderResult, control: ControlResult | undefined): string {
  const { completed, expected, wrong, partial, iterationsDone } = result;
  const all = `all ${formatCount(expected)} collectives completed, and every result is right to the bit`;
  if (wrong > 0) return `${formatCount(wrong)} of ${formatCount(completed)} results are wrong.`;
  if (partial && completed === 0) return "Interrupted before any collective completed: there are no results to judge.";
  if (partial) {
    return `Interrupted in iteration ${formatCount(iterationsDone + 1)}, a partial result: ${formatCount(completed)} of ${formatCount(expected)} collectives completed so far, and every result is right to the bit.`;
  }
  if (completed < expected) return `${formatCount(expected - completed)} of ${formatCount(expected)} collectives did not complete.`;
  if (!control) return `Each rank in its own order: ${all}.`;
  if (control.deadlocked) return `Without preemption these orders deadlock; with it, ${all}.`;
  return `Here ${all}; but without preemption they completed too, so these orders show nothing. Try --order random.`;
}
