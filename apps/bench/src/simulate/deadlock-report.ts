import type { DeadlockResult, RatioEstimate, ReplayTallies } from "@dfccl/simulator";
import { formatCount, formatTable } from "../terminal/table.js";

/** "1.27%", "0.0031%", "0". */
export function formatRatio(ratio: number): string {
  if (ratio === 0) return "0";
  const percent = 100 * ratio;
  return `${percent >= 0.1 ? percent.toFixed(2) : percent.toPrecision(2)}%`;
}

/** "1.20% … 1.35%". */
export function formatInterval([low, high]: readonly [number, number]): string {
  return `${formatRatio(low)} … ${formatRatio(high)}`;
}

/** "3 of 100 complete"; a dash where nothing was replayed. */
export function formatReplay({ replayed, finished }: ReplayTallies["quit off"]): string {
  return replayed === 0 ? "–" : `${formatCount(finished)} of ${formatCount(replayed)} complete`;
}

export function describeEstimate(result: DeadlockResult): string {
  return formatTable(estimateRows(result));
}

/** Name and value. */
export function estimateRows(result: DeadlockResult): readonly (readonly string[])[] {
  const lines: string[][] = [["rounds", formatCount(result.rounds)], ...estimateLines("deadlocks", result)];
  if (result.shortcut !== undefined) {
    lines.push(...estimateLines(`by the shortcut, in ${formatCount(result.shortcut.rounds)}`, result.shortcut));
  }
  const { replays, whole } = result;
  lines.push(...replayLines("what deadlocked, on daemons", replays));
  lines.push(...replayLines("whole rounds that deadlocked", whole.deadlocked));
  lines.push(...replayLines("whole rounds that didn't", whole.calm));
  return lines;
}

function replayLines(title: string, tallies: ReplayTallies): string[][] {
  const { "preemption and quit": both, "preemption off": noPreemption, "quit off": noQuit } = tallies;
  if (both.replayed === 0) return [];
  return [
    [title, ""],
    ["  preemption and quit", formatReplay(both)],
    ["  control: preemption off", formatReplay(noPreemption)],
    ["  control: quit off", formatReplay(noQuit)],
  ];
}

function estimateLines(title: string, { deadlocks, ratio, interval }: RatioEstimate): string[][] {
  return [
    [title, formatCount(deadlocks)],
    ["  ratio", formatRatio(ratio)],
    ["  95% interval", formatInterval(interval)],
  ];
}
