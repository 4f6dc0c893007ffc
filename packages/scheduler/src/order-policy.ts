/** Where a new task enters the queue: at the end, at the front (OCCL's form of priority), or by priority. */
export type OrderKind = "fifo" | "lifo" | "priority";

/**
 * When a block looks for new collectives, and where they enter its task queue. Plain data; the engine runs the same
 * policy from its bytes (policy-binary.ts, native `order_policy.hpp`).
 * @see DFCCL, section 4.3; OCCL, section 3.2
 */
export interface OrderPolicy {
  readonly kind: OrderKind;
  /** Visits between two looks while the queue holds tasks. 1: at every visit. 0: only when every task is stuck (the paper's FIFO). */
  readonly fetchEveryVisits: number;
  /** With every task stuck, look once so many visits passed without progress. */
  readonly fetchWhenStuckVisits: number;
  /** Most entries that one look takes; at least 1. */
  readonly fetchBatch: number;
  /**
   * Most tasks that enter during one lap over the queue; at least 1. Without this budget, new tasks that complete as fast
   * as they come keep the lap from ending, and a stuck task at the front is never tried again; and urgent tasks, for
   * which the lap goes back, keep it from ever reaching those behind.
   */
  readonly fetchesPerLap: number;
}

/** What a block knows when it asks whether to look. Counts are in visits. */
export interface FetchFacts {
  readonly queueLength: number;
  /** Since the last look, whether or not it found something. */
  readonly visitsSinceFetch: number;
  /** Since a slice was last committed. */
  readonly visitsSinceProgress: number;
  readonly fetchedThisLap: number;
  /** Every task used up its threshold since the last progress. */
  readonly allStuck: boolean;
}

/** Whether to look for new entries in this visit. An empty queue always looks. */
export function shouldFetch(policy: OrderPolicy, facts: FetchFacts): boolean {
  if (facts.queueLength === 0) return true;
  if (facts.fetchedThisLap >= policy.fetchesPerLap) return false;
  if (policy.fetchEveryVisits !== 0 && facts.visitsSinceFetch >= policy.fetchEveryVisits) return true;
  return facts.allStuck && facts.visitsSinceProgress >= policy.fetchWhenStuckVisits;
}

/**
 * Index at which a new task enters the queue. Stable: equal priorities stay in the order in which they came.
 * @param priorities - of the queue's tasks, front first; larger is more urgent. Under the priority policy they are in
 *   order, because every task entered through this function.
 */
export function insertPosition(policy: OrderPolicy, priorities: readonly number[], newPriority: number): number {
  if (policy.kind === "lifo") return 0;
  if (policy.kind === "fifo") return priorities.length;
  return priorities.findLastIndex((priority) => priority >= newPriority) + 1;
}
