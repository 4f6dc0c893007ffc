import fc from "fast-check";
import {
  encodePolicy,
  insertPosition,
  type QuitState,
  quitTransition,
  type ScheduleDecision,
  type ScheduleEvent,
  type SchedulePolicy,
  scheduleTransition,
  started,
  startedAt,
  wantsFetch,
} from "../src/index.js";
import { anyPolicy } from "./arbitraries.js";

// In the order of the engine's EventKind.
const eventKinds = ["fetched", "fetchedNothing", "idle", "stuck", "progressed", "completed", "preempted", "removed", "drain"] as const;

type Step =
  | { readonly kind: "fetch"; readonly priority: number }
  | { readonly kind: "event"; readonly event: (typeof eventKinds)[number]; readonly where: number }
  | {
      readonly kind: "quit";
      readonly advance: number;
      readonly queueLength: number;
      readonly flags: readonly [boolean, boolean, boolean, boolean];
    };

/** A policy, a queue to begin with, and what happens to it. */
export interface RecordedSequence {
  readonly policy: SchedulePolicy;
  readonly priorities: readonly number[];
  readonly cursor: number;
  readonly now: number;
  readonly steps: readonly Step[];
}

const priority = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("fetch" as const), priority }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("event" as const),
      // Failed polls are what a daemon sees most.
      event: fc.constantFrom(
        "fetchedNothing",
        "stuck",
        "stuck",
        "stuck",
        "stuck",
        "progressed",
        "progressed",
        "completed",
        "preempted",
        "removed",
      ),
      where: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("event" as const), event: fc.constant("drain" as const), where: fc.constant(0) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("quit" as const),
      advance: fc.oneof(fc.integer({ min: -3, max: 20 }), fc.nat({ max: 2 ** 40 })),
      queueLength: fc.nat({ max: 2 }),
      flags: fc.tuple(
        fc.integer({ min: 0, max: 3 }).map((x) => x === 0),
        fc.integer({ min: 0, max: 3 }).map((x) => x === 0),
        fc.boolean(),
        fc.boolean(),
      ),
    }),
  },
);

export const anySequence: fc.Arbitrary<RecordedSequence> = fc.record({
  policy: anyPolicy,
  priorities: fc.array(priority, { maxLength: 5 }),
  cursor: fc.nat({ max: 6 }),
  now: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 2 ** 52 })),
  steps: fc.array(step, { minLength: 20, maxLength: 80 }),
});

/** The commands of a sequence for the native replay, and what the TypeScript policies answer to each. */
export function play({ policy, priorities, cursor, now, steps }: RecordedSequence): [command: string, answer: string][] {
  let queue = [...priorities].sort((a, b) => b - a);
  let state = started(policy, queue.length, cursor);
  let stay: QuitState = startedAt(now);
  let clock = now;
  const describe = (marks: string): string =>
    [
      marks,
      state.length,
      state.cursor,
      state.current.threshold,
      state.current.failures,
      state.untriedTurns,
      state.unstuckTurns,
      state.visitsSinceFetch,
      state.visitsSinceProgress,
      state.fetchedThisLap,
      state.urgent ?? -1,
      Number(state.isDraining),
      Number(wantsFetch(policy, state)),
    ].join(" ");
  const apply = (event: ScheduleEvent): string => {
    const decision: ScheduleDecision = scheduleTransition(policy, state, event);
    state = decision.state;
    const marks = `${decision.turnEnded ? "E" : "-"}${decision.taskChanged ? "C" : "-"}${decision.preempted ? "P" : "-"}`;
    return describe(marks);
  };

  const lines: [string, string][] = [
    [`policy ${Buffer.from(encodePolicy(policy)).toString("hex")}`, "valid"],
    [["start", queue.length, cursor, ...queue].join(" "), describe("---")],
    [`stay ${now}`, "stay"],
  ];
  for (const next of steps) {
    if (next.kind === "fetch") {
      const position = insertPosition(policy.order, queue, next.priority);
      queue = queue.toSpliced(position, 0, next.priority);
      lines.push([`fetch ${next.priority}`, apply({ kind: "fetched", position })]);
    } else if (next.kind === "event") {
      const event = possibleEvent(next.event, next.where, queue.length);
      const position = event.kind === "completed" ? state.cursor : "position" in event ? event.position : 0;
      if (event.kind === "completed" || event.kind === "removed") queue = queue.toSpliced(position, 1);
      lines.push([`event ${eventKinds.indexOf(event.kind)} ${position}`, apply(event)]);
    } else {
      clock = Math.min(Math.max(clock + next.advance, 0), Number.MAX_SAFE_INTEGER);
      const [fetched, progressed, allStuck, triedAll] = next.flags;
      const decision = quitTransition(policy.quit, stay, {
        now: clock,
        queueLength: next.queueLength,
        fetched,
        progressed,
        allStuck,
        triedAll,
      });
      stay = decision.state;
      lines.push([
        ["quit", clock, next.queueLength, ...next.flags.map(Number)].join(" "),
        [Number(decision.quit), Number(decision.drain), stay.startedAt, stay.activeAt, stay.quietVisits].join(" "),
      ]);
    }
  }
  return lines;
}

// With an empty queue the current task's events can't happen, and the visit is idle.
function possibleEvent(kind: (typeof eventKinds)[number], where: number, length: number): ScheduleEvent {
  if (kind === "fetchedNothing" || kind === "drain") return { kind };
  if (length === 0 || kind === "idle" || kind === "fetched") return { kind: "idle" };
  return kind === "removed" ? { kind, position: Math.floor(where * length) } : { kind };
}
