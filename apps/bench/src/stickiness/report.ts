import type { ReportHeader } from "../peers/report-header.js";

/** One collective of one iteration on rank 0, in the order in which they completed. */
export interface CompletionSample {
  readonly collective: number;
  /** Context switches on rank 0 since the completion before. */
  readonly switches: number;
  /** Mean length of rank 0's task queue over the visits since then. */
  readonly queueLength: number;
}

export interface StickinessRun {
  readonly policy: string;
  /** Milliseconds by which one rank begins each iteration late. */
  readonly lateMs: number;
  readonly iterationsPerSecond: number;
  readonly preemptions: number;
  readonly quits: number;
  readonly meanQueueLength: number;
  /** Of the last iteration. */
  readonly completions: readonly CompletionSample[];
}

export interface StickinessReport {
  readonly kind: "stickiness";
  readonly header: ReportHeader;
  readonly ranks: number;
  readonly collectives: number;
  readonly iterations: number;
  readonly lateRank: number;
  readonly runs: readonly StickinessRun[];
}
