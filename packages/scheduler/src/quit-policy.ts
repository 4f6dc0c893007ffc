import { saturatingIncrement } from "./saturating.js";

/**
 * `never`: stays until told to exit. `whenEmpty`: leaves with an empty queue only, as kernels do that run a collective to
 * its end; it deadlocks with a device synchronization, so it is a control. `voluntary`: leaves when idle or stuck, and at
 * its residency limit.
 */
export type QuitKind = "never" | "whenEmpty" | "voluntary";

/**
 * When the daemon leaves the device, as a whole. Ticks are the platform's clock.
 * @see DFCCL, section 4.4; OCCL, section 3.1.3
 */
export interface QuitPolicy {
  readonly kind: QuitKind;
  /** The idle period in visits with nothing fetched and no progress; 0: `idleTicks` alone counts. */
  readonly idleVisits: number;
  /** The idle period in ticks; 0: `idleVisits` alone counts. Where both are set, both must have passed. */
  readonly idleTicks: number;
  /** Longest stay whatever the progress, in ticks; 0: unbounded. */
  readonly residencyTicks: number;
}

export interface QuitState {
  readonly startedAt: number;
  /** When something was last fetched or progressed. */
  readonly activeAt: number;
  /** Visits since then. */
  readonly quietVisits: number;
}

/** What the leader knows in one visit, over all blocks of the daemon. */
export interface QuitEvent {
  /** Ticks. */
  readonly now: number;
  readonly queueLength: number;
  readonly fetched: boolean;
  readonly progressed: boolean;
  /** Every task used up its threshold since the last progress. */
  readonly allStuck: boolean;
  /** Every task was polled at least once since this start. */
  readonly triedAll: boolean;
}

export interface QuitDecision {
  readonly state: QuitState;
  readonly quit: boolean;
  /**
   * The stay is over but some task has not been tried: blocks give each of these one visit and fetch no more. So a stay
   * ends at most one visit a task after its limit.
   */
  readonly drain: boolean;
}

/** The state of a daemon that starts at `now`. */
export function startedAt(now: number): QuitState {
  return { startedAt: now, activeAt: now, quietVisits: 0 };
}

// Clocks of two cores may disagree by a little; time that seems to run backwards must not look like an age.
function elapsed(now: number, since: number): number {
  return Math.max(now - since, 0);
}

function isIdle(policy: QuitPolicy, state: QuitState, event: QuitEvent): boolean {
  if (event.fetched || event.progressed) return false;
  if (state.quietVisits < policy.idleVisits || elapsed(event.now, state.activeAt) < policy.idleTicks) return false;
  if (event.queueLength === 0) return true;
  return policy.kind === "voluntary" && event.allStuck && event.triedAll;
}

/** One visit of the leader. */
export function quitTransition(policy: QuitPolicy, before: QuitState, event: QuitEvent): QuitDecision {
  const state =
    event.fetched || event.progressed
      ? { ...before, activeAt: event.now, quietVisits: 0 }
      : { ...before, quietVisits: saturatingIncrement(before.quietVisits) };
  if (policy.kind === "never") return { state, quit: false, drain: false };
  if (isIdle(policy, state, event)) return { state, quit: true, drain: false };
  const isOver = policy.kind === "voluntary" && policy.residencyTicks !== 0 && elapsed(event.now, state.startedAt) >= policy.residencyTicks;
  return { state, quit: isOver && event.triedAll, drain: isOver && !event.triedAll };
}
