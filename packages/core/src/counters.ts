import type { NativeWorld } from "./native-addon/native-world.js";

/** Of one block of a rank's daemon, since the world was opened. */
export interface BlockCounters {
  /** Polls of a task's wait condition. */
  readonly visits: number;
  /** Of them, those that found nothing. */
  readonly stuckVisits: number;
  /** Visits that committed at least one slice. */
  readonly slices: number;
  /** Turns that ended stuck while another collective waited for its turn. */
  readonly preemptions: number;
  readonly contextLoads: number;
  readonly contextSaves: number;
  readonly tasksTaken: number;
  readonly tasksCompleted: number;
  /** Mean over visits. */
  readonly meanQueueLength: number;
  readonly maxQueueLength: number;
  /** Bytes read and written by reduce-copy. */
  readonly bytesMoved: number;
}

export interface RankCounters {
  /** Starts of the daemon. */
  readonly launches: number;
  /** Times it left of its own accord. */
  readonly quits: number;
  readonly submissions: number;
  readonly completions: number;
  readonly blocks: readonly BlockCounters[];
}

/** Words of the engine's RankCounters, in order. */
export const rankCounterNames = ["launches", "quits", "submissionsTaken", "completionsPosted"] as const;

/** Words of the engine's BlockCounters, in order. */
export const blockCounterNames = [
  "visits",
  "stuckVisits",
  "slices",
  "preemptions",
  "contextLoads",
  "contextSaves",
  "tasksTaken",
  "tasksCompleted",
  "queueLengthSum",
  "queueLengthMax",
  "bytesMoved",
] as const;

export function readCounters(native: NativeWorld, rank: number): RankCounters {
  const { rank: ofRank, blocks } = native.counters(rank);
  const { launches, quits, submissionsTaken, completionsPosted } = named(rankCounterNames, ofRank);
  return { launches, quits, submissions: submissionsTaken, completions: completionsPosted, blocks: blocks.map(blockCounters) };
}

function blockCounters(words: readonly number[]): BlockCounters {
  const { queueLengthSum, queueLengthMax, ...counters } = named(blockCounterNames, words);
  return {
    ...counters,
    meanQueueLength: counters.visits === 0 ? 0 : queueLengthSum / counters.visits,
    maxQueueLength: queueLengthMax,
  };
}

function named<const Name extends string>(names: readonly Name[], words: readonly number[]): Record<Name, number> {
  return Object.fromEntries(names.map((name, i) => [name, words[i] ?? 0])) as Record<Name, number>;
}
