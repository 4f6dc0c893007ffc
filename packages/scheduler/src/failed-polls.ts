import { saturatingAdd, saturatingSubtract } from "./saturating.js";
import { type ScheduleDecision, type SchedulePolicy, type ScheduleState, scheduleTransition } from "./scheduler.js";

/**
 * What polls do to the schedule that fail one after the other, in one step: the same as one `stuck` event for each, up to the
 * first that gives the turn to another task; or as one `idle` event for each where the queue is empty. For simulators, which
 * skip what they know to fail.
 * @param polls - at least 1; those behind the end of the turn don't count.
 */
export function afterFailedPolls(policy: SchedulePolicy, before: ScheduleState, polls: number): ScheduleDecision {
  if (before.length === 0) return scheduleTransition(policy, countVisits(before, polls - 1), { kind: "idle" });
  const { current } = before;
  const keepsTurn = policy.streams === 0 && !before.isDraining && before.urgent === undefined;
  // All but the last of these fail within the turn.
  const within = keepsTurn ? Math.max(Math.min(polls, current.threshold - current.failures), 1) - 1 : 0;
  const decision = scheduleTransition(
    policy,
    { ...countVisits(before, within), current: { ...current, failures: saturatingAdd(current.failures, within) } },
    { kind: "stuck" },
  );
  const more = polls - within - 1;
  return more > 0 && !decision.taskChanged ? afterLostTurns(policy, decision, more) : decision;
}

// Turns that end and go to the same task again, because it is alone or because no other may run.
function afterLostTurns(policy: SchedulePolicy, decision: ScheduleDecision, polls: number): ScheduleDecision {
  const { state } = decision;
  const { threshold } = state.current;
  const pollsPerTurn = policy.streams === 0 && !state.isDraining ? Math.max(threshold, 1) : 1;
  const turns = Math.floor(polls / pollsPerTurn);
  const failures = polls - turns * pollsPerTurn;
  const usesThreshold = policy.streams !== 0 || pollsPerTurn >= threshold;
  const after: ScheduleState = {
    ...countVisits(state, polls),
    current: { threshold, failures },
    untriedTurns: saturatingSubtract(state.untriedTurns, turns),
    unstuckTurns: usesThreshold ? saturatingSubtract(state.unstuckTurns, turns) : state.unstuckTurns,
  };
  return { ...decision, state: after, turnEnded: failures === 0 };
}

function countVisits(state: ScheduleState, visits: number): ScheduleState {
  return {
    ...state,
    visitsSinceFetch: saturatingAdd(state.visitsSinceFetch, visits),
    visitsSinceProgress: saturatingAdd(state.visitsSinceProgress, visits),
  };
}
