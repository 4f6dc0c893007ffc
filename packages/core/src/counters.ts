import type { NativeWorld } from "./native-addon/native-world.js";

/** Of one block of a rank's daemon, since the world was opened. In the order of native/include/dfccl/daemon/counters.hpp. */
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

export function readCounters(native: NativeWorld, rank: number): RankCounters {
  const { rank: ofRank, blocks } = native.counters(rank);
  const [launches = 0, quits = 0, submissions = 0, completions = 0] = ofRank;
  return { launches, quits, submissions, completions, blocks: blocks.map(blockCounters) };
}

function blockCounters(words: readonly number[]): BlockCounters {
  const [
    visits = 0,
    stuckVisits = 0,
    slices = 0,
    preemptions = 0,
    contextLoads = 0,
    contextSaves = 0,
    tasksTaken = 0,
    tasksCompleted = 0,
    queueLengthSum = 0,
    maxQueueLength = 0,
    bytesMoved = 0,
  ] = words;
  return {
    visits,
    stuckVisits,
    slices,
    preemptions,
    contextLoads,
    contextSaves,
    tasksTaken,
    tasksCompleted,
    meanQueueLength: visits === 0 ? 0 : queueLengthSum / visits,
    maxQueueLength,
    bytesMoved,
  };
}
