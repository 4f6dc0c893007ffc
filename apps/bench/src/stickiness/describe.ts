import { formatCount, formatTable } from "../terminal/table.js";
import type { StickinessReport } from "./report.js";

/** The runs as a table, and what they show in a sentence. */
export function describeStickiness({ runs, lateRank, iterations }: StickinessReport): string {
  const rows = runs.map(({ policy, lateMs, iterationsPerSecond, preemptions, quits, meanQueueLength }) => [
    policy,
    lateMs === 0 ? "nobody" : `rank ${lateRank}, ${lateMs} ms`,
    iterationsPerSecond.toPrecision(3),
    formatCount(preemptions / iterations),
    (quits / iterations).toFixed(1),
    meanQueueLength.toFixed(1),
  ]);
  const columns = ["threshold", "late", "iterations/s", "switches an iteration", "quits an iteration", "queue length"];
  const sentences = [...new Set(runs.map(({ lateMs }) => lateMs))].flatMap((lateMs) => {
    const [fixed, adaptive] = ["fixed", "adaptive"].map((name) => runs.find((run) => run.policy === name && run.lateMs === lateMs));
    if (!fixed || !adaptive) return [];
    const ratio = (adaptive.iterationsPerSecond / fixed.iterationsPerSecond).toFixed(2);
    return [
      `With ${lateMs === 0 ? "nobody" : `rank ${lateRank}`} late, the adaptive threshold does ${ratio} times as many iterations as the fixed one.`,
    ];
  });
  return `${formatTable(rows, columns)}\n\n${sentences.join("\n")}`;
}
