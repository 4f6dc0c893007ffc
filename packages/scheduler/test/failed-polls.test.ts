import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { afterFailedPolls, type SchedulePolicy, type ScheduleState, scheduleTransition, started } from "../src/index.js";
import { anyPolicy, seed } from "./arbitraries.js";

/** One event for each poll, up to the first that gives the turn away. */
function pollByPoll(policy: SchedulePolicy, before: ScheduleState, polls: number) {
  const kind = before.length === 0 ? "idle" : "stuck";
  let decision = scheduleTransition(policy, before, { kind });
  for (let i = 1; i < polls && !decision.taskChanged; i += 1) decision = scheduleTransition(policy, decision.state, { kind });
  return decision;
}

type EventKind = "fetched" | "stuck" | "progressed" | "preempted" | "drain";
const event = fc.constantFrom<EventKind[]>("fetched", "stuck", "stuck", "progressed", "preempted", "drain");

/** A state that such events lead to. */
function stateAfter(policy: SchedulePolicy, length: number, events: readonly { readonly kind: EventKind; readonly at: number }[]) {
  return events.reduce(
    (state, { kind, at }) => {
      if (state.length === 0 && kind !== "fetched" && kind !== "drain") return state;
      return scheduleTransition(policy, state, kind === "fetched" ? { kind, position: at % (state.length + 1) } : { kind }).state;
    },
    started(policy, length),
  );
}

describe("afterFailedPolls", () => {
  it("counts polls that fail in a row as one after the other, whatever came before", () => {
    const past = fc.array(fc.record({ kind: event, at: fc.nat(9) }), { maxLength: 12 });
    const polls = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 2000 }));
    let [longTurns, lostTurns] = [0, 0];
    fc.assert(
      fc.property(anyPolicy, fc.nat(4), past, polls, (policy, length, events, count) => {
        const before = stateAfter(policy, length, events);
        const expected = pollByPoll(policy, before, count);
        if (!expected.turnEnded) longTurns += 1;
        if (expected.taskChanged) lostTurns += 1;
        expect(afterFailedPolls(policy, before, count)).toEqual(expected);
      }),
      { numRuns: 1500, seed },
    );
    // Both kinds came up: otherwise the comparison would say little.
    expect(longTurns).toBeGreaterThan(50);
    expect(lostTurns).toBeGreaterThan(50);
  });
});
