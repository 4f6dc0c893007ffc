import { type OrderPolicy, shouldFetch } from "./order-policy.js";
import type { QuitPolicy } from "./quit-policy.js";
import { saturatingIncrement, saturatingSubtract } from "./saturating.js";
import { initialThreshold, onSuccess, type StickinessPolicy } from "./stickiness-policy.js";

/** Everything a daemon needs to schedule. */
export interface SchedulePolicy {
  readonly order: OrderPolicy;
  readonly stickiness: StickinessPolicy;
  readonly quit: QuitPolicy;
  /**
   * 0: preemptive. k > 0: "in order", the control of every deadlock test. The first k tasks run at once, as if each had a
   * stream of its own; none gives its place up before it completes.
   */
  readonly streams: number;
}

/** The current turn: failed polls in a row, and how many of them end the turn. */
export interface TaskSchedule {
  readonly threshold: number;
  readonly failures: number;
}

/**
 * One block's schedule: whose turn it is in the task queue, and for how long. Positions are indices into a queue that the
 * caller keeps. A turn is a task's run of visits up to its completion or preemption; a lap is the cursor's way from the
 * front of the queue to its end.
 */
export interface ScheduleState {
  /** Tasks in the queue. */
  readonly length: number;
  /** Position of the current task; 0 when the queue is empty. */
  readonly cursor: number;
  /** Of the task at the cursor. */
  readonly current: TaskSchedule;
  /** Turns until every task was polled since the start. */
  readonly untriedTurns: number;
  /** Failed turns in a row until every task is known to be stuck. */
  readonly unstuckTurns: number;
  readonly visitsSinceFetch: number;
  readonly visitsSinceProgress: number;
  readonly fetchedThisLap: number;
  /** Position of a task that entered ahead of the cursor and goes next. */
  readonly urgent: number | undefined;
  readonly isDraining: boolean;
}

/**
 * What happened. Per visit the caller reports exactly one of idle (the queue is empty), stuck (the current task's poll
 * found nothing), progressed (it committed a slice; again for each further slice), completed (its last slice) and
 * preempted (the caller ends the turn for a reason of its own). `fetched` and `fetchedNothing` report looks for new
 * entries; `removed` a task that leaves unfinished; `drain` that the stay is over (see `QuitDecision.drain`).
 */
export type ScheduleEvent =
  | { readonly kind: "fetched" | "removed"; readonly position: number }
  | { readonly kind: "fetchedNothing" | "idle" | "stuck" | "progressed" | "completed" | "preempted" | "drain" };

export interface ScheduleDecision {
  readonly state: ScheduleState;
  /** The turn of the task that the event was about is over. */
  readonly turnEnded: boolean;
  /** Another task is current now. */
  readonly taskChanged: boolean;
  /** The task kept its place in the queue and gave its turn to another. */
  readonly preempted: boolean;
}

type Draft = { -readonly [Key in keyof ScheduleState]: ScheduleState[Key] };

/**
 * The state of a block whose daemon starts with `length` tasks in its queue.
 * @param cursor - where the last stay ended, so that short stays come round to every task.
 */
export function started(policy: SchedulePolicy, length = 0, cursor = 0): ScheduleState {
  const start = cursor < activeLength(policy, length) ? cursor : 0;
  return {
    length,
    cursor: start,
    current: { threshold: initialThreshold(policy.stickiness, start), failures: 0 },
    untriedTurns: length,
    unstuckTurns: length,
    visitsSinceFetch: 0,
    visitsSinceProgress: 0,
    fetchedThisLap: 0,
    urgent: undefined,
    isDraining: false,
  };
}

/** Every task was polled at least once since the start. */
export function isTriedAll(state: ScheduleState): boolean {
  return state.untriedTurns === 0;
}

/** Every task used up its threshold since the last progress. */
export function isAllStuck(state: ScheduleState): boolean {
  return state.unstuckTurns === 0;
}

/** Whether this block looks for new entries in this visit. */
export function wantsFetch(policy: SchedulePolicy, state: ScheduleState): boolean {
  if (state.isDraining) return false;
  return shouldFetch(policy.order, {
    queueLength: state.length,
    visitsSinceFetch: state.visitsSinceFetch,
    visitsSinceProgress: state.visitsSinceProgress,
    fetchedThisLap: state.fetchedThisLap,
    allStuck: isAllStuck(state),
  });
}

/**
 * What an event does to the schedule.
 * @remarks stuck, progressed, completed and preempted need a queue that isn't empty; `fetched` a position ≤ length,
 *   `removed` one < length.
 * @see DFCCL, Algorithm 1
 */
export function scheduleTransition(policy: SchedulePolicy, before: ScheduleState, event: ScheduleEvent): ScheduleDecision {
  const state: Draft = { ...before };
  switch (event.kind) {
    case "fetched":
      return insert(policy, state, event.position);
    case "fetchedNothing":
      state.visitsSinceFetch = 0;
      return stay(state);
    case "idle":
      countVisit(state);
      return stay(state);
    case "stuck": {
      countVisit(state);
      const failures = saturatingIncrement(state.current.failures);
      state.current = { ...state.current, failures };
      const usedThreshold = failures >= state.current.threshold;
      const yields = usedThreshold || state.isDraining || state.urgent !== undefined || policy.streams !== 0;
      return yields ? endTurn(policy, state, usedThreshold || policy.streams !== 0) : stay(state);
    }
    case "progressed":
      countVisit(state);
      state.visitsSinceProgress = 0;
      state.unstuckTurns = state.length;
      state.current = { threshold: onSuccess(policy.stickiness, state.current.threshold), failures: 0 };
      return state.isDraining || state.urgent !== undefined ? endTurn(policy, state, false) : stay(state);
    case "completed":
      countVisit(state);
      state.visitsSinceProgress = 0;
      state.untriedTurns = saturatingSubtract(state.untriedTurns, 1);
      state.unstuckTurns = state.length;
      return erase(policy, state, state.cursor);
    case "preempted":
      countVisit(state);
      return endTurn(policy, state, true);
    case "removed":
      return erase(policy, state, event.position);
    case "drain":
      state.isDraining = true;
      state.urgent = undefined; // going back for it would lengthen the stay
      return stay(state);
  }
}

function stay(state: ScheduleState): ScheduleDecision {
  return { state, turnEnded: false, taskChanged: false, preempted: false };
}

// Positions that get turns: all of them, or with k streams the first k.
function activeLength(policy: SchedulePolicy, length: number): number {
  return policy.streams === 0 ? length : Math.min(policy.streams, length);
}

function beginTurn(policy: SchedulePolicy, state: Draft): void {
  state.current = { threshold: initialThreshold(policy.stickiness, state.cursor), failures: 0 };
}

function restartCounts(state: Draft): void {
  state.untriedTurns = state.length;
  state.unstuckTurns = state.length;
}

function countVisit(state: Draft): void {
  state.visitsSinceFetch = saturatingIncrement(state.visitsSinceFetch);
  state.visitsSinceProgress = saturatingIncrement(state.visitsSinceProgress);
}

// Puts the cursor where the next turn takes place, `next` being the position behind the one that just ended.
function moveTo(policy: SchedulePolicy, state: Draft, next: number): void {
  if (state.urgent !== undefined) {
    state.cursor = state.urgent;
    state.urgent = undefined;
    // From here on the cursor passes tasks again that it has tried already, so the count of turns starts anew.
    restartCounts(state);
  } else if (next >= activeLength(policy, state.length)) {
    state.cursor = 0;
    state.fetchedThisLap = 0;
  } else {
    state.cursor = next;
  }
  beginTurn(policy, state);
}

function endTurn(policy: SchedulePolicy, state: Draft, usedThreshold: boolean): ScheduleDecision {
  const before = state.cursor;
  state.untriedTurns = saturatingSubtract(state.untriedTurns, 1);
  if (usedThreshold) state.unstuckTurns = saturatingSubtract(state.unstuckTurns, 1);
  moveTo(policy, state, state.cursor + 1);
  const taskChanged = state.cursor !== before;
  return { state, turnEnded: true, taskChanged, preempted: taskChanged && policy.streams === 0 };
}

function insert(policy: SchedulePolicy, state: Draft, position: number): ScheduleDecision {
  const wasEmpty = state.length === 0;
  state.length += 1;
  state.visitsSinceFetch = 0;
  state.fetchedThisLap = saturatingIncrement(state.fetchedThisLap);
  restartCounts(state);
  if (wasEmpty) {
    state.cursor = 0;
    beginTurn(policy, state);
    return { state, turnEnded: false, taskChanged: true, preempted: false };
  }
  if (position <= state.cursor) {
    // An urgent position never lies behind the one of a still more urgent task.
    const isFirst = state.urgent === undefined || position <= state.urgent;
    if (isFirst) state.urgent = position;
    state.cursor += 1;
  }
  return stay(state);
}

// The task at `position` leaves the queue, completed or not.
function erase(policy: SchedulePolicy, state: Draft, position: number): ScheduleDecision {
  state.length -= 1;
  state.untriedTurns = Math.min(state.untriedTurns, state.length);
  state.unstuckTurns = Math.min(state.unstuckTurns, state.length);
  if (state.urgent !== undefined && position <= state.urgent) {
    state.urgent = position === state.urgent ? undefined : state.urgent - 1;
  }
  if (position > state.cursor) return stay(state);
  if (position < state.cursor) {
    state.cursor -= 1;
    return stay(state);
  }
  moveTo(policy, state, state.cursor);
  return { state, turnEnded: true, taskChanged: true, preempted: false };
}
