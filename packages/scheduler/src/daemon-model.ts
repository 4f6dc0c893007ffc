import { checkInteger, checkNumber, checkObject, readArgument } from "@dfccl/primitives";
import { checkPolicy } from "./check-policy.js";
import { afterFailedPolls } from "./failed-polls.js";
import { insertPosition } from "./order-policy.js";
import { type QuitState, quitTransition, startedAt } from "./quit-policy.js";
import { saturatingAdd } from "./saturating.js";
import {
  isAllStuck,
  isTriedAll,
  type ScheduleEvent,
  type SchedulePolicy,
  type ScheduleState,
  scheduleTransition,
  started,
  wantsFetch,
} from "./scheduler.js";

/** What a daemon finds when it looks at the host's queue and at its tasks. Tasks are numbers of yours. */
export interface DaemonWork {
  /** Takes the host's next request, if there is one. */
  next(): number | undefined;
  /** Does what can be done of a task in one visit. */
  poll(task: number): "stuck" | "progressed" | "completed";
  /** For policies that order by it; 0 where there is none. Higher goes first. */
  priority?(task: number): number;
}

/** What happened in a visit, for the decision to stay or to leave. */
export interface VisitOutcome {
  readonly fetched: boolean;
  readonly progressed: boolean;
  /** Visits that it stands for: more than one where polls that failed in a row are counted at once. */
  readonly visits?: number;
}

const anOutcome = "an object such as { fetched: true, progressed: false }";

/**
 * A daemon of one block as its policies see it (DFCCL, section 4.3 and 4.4), for simulators: a task queue, whose turn it
 * is, and when it leaves. The queue outlives a stay. {@link visit} is a whole visit; simulators that skip visits in which
 * nothing happens call its parts. What makes no sense they refuse with an InvalidArgumentError.
 */
export class DaemonModel {
  preemptions = 0;
  quits = 0;
  #queue: number[] = [];
  #schedule: ScheduleState;
  #stay: QuitState | undefined;

  constructor(
    readonly policy: SchedulePolicy,
    readonly work: DaemonWork,
  ) {
    checkPolicy(policy);
    this.#schedule = started(policy);
  }

  get isResident(): boolean {
    return this.#stay !== undefined;
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  /** The task whose turn it is. */
  get current(): number | undefined {
    return this.#queue[this.#schedule.cursor];
  }

  get schedule(): ScheduleState {
    return this.#schedule;
  }

  /** While it is resident. */
  get stay(): QuitState | undefined {
    return this.#stay;
  }

  /** Begins a stay. @param now - in ticks of the policy's clock. */
  start(now: number): void {
    checkNumber("now", now);
    this.#stay = startedAt(now);
    this.#schedule = started(this.policy, this.#queue.length, this.#schedule.cursor);
  }

  /** One bounded step; nothing while it is out. @returns whether anything was taken in or went on. */
  visit(now: number): boolean {
    checkNumber("now", now);
    if (this.#stay === undefined) return false;
    const fetched = this.fetch() > 0;
    const progressed = this.poll();
    this.#end(now, fetched, progressed, 1);
    return fetched || progressed;
  }

  /** Looks for requests if the policy wants to, and takes in at most its batch. @returns how many. */
  fetch(): number {
    if (!wantsFetch(this.policy, this.#schedule)) return 0;
    let taken = 0;
    for (; taken < this.policy.order.fetchBatch; taken += 1) {
      const task = this.work.next();
      if (task === undefined) break;
      const priorities = this.#queue.map((queued) => this.#priority(queued));
      const position = insertPosition(this.policy.order, priorities, this.#priority(task));
      this.#queue.splice(position, 0, task);
      this.#apply({ kind: "fetched", position });
    }
    if (taken === 0) this.#apply({ kind: "fetchedNothing" });
    return taken;
  }

  /** Polls the current task. @returns whether it went on. */
  poll(): boolean {
    const task = this.current;
    if (task === undefined) {
      this.#apply({ kind: "idle" });
      return false;
    }
    const kind = this.work.poll(task);
    if (kind === "completed") this.#queue.splice(this.#schedule.cursor, 1);
    this.#apply({ kind });
    return kind !== "stuck";
  }

  /**
   * Counts polls that failed one after the other, up to the end of the current task's turn.
   * @returns whether it lost its turn to another.
   */
  failPolls(polls: number): boolean {
    checkInteger("polls", polls, 1);
    const { state, preempted } = afterFailedPolls(this.policy, this.#schedule, polls);
    this.#schedule = state;
    if (preempted) this.preemptions += 1;
    return preempted;
  }

  /** Ends a visit. @returns whether the daemon has left. */
  end(now: number, outcome: VisitOutcome): boolean {
    checkNumber("now", now);
    checkObject("outcome", outcome, anOutcome);
    const { fetched, progressed, visits = 1 } = readArgument("outcome", anOutcome, () => ({ ...outcome }));
    checkInteger("outcome.visits", visits, 1);
    return this.#end(now, fetched, progressed, visits);
  }

  #end(now: number, fetched: boolean, progressed: boolean, visits: number): boolean {
    if (this.#stay === undefined) return true;
    const before = { ...this.#stay, quietVisits: saturatingAdd(this.#stay.quietVisits, visits - 1) };
    const decision = quitTransition(this.policy.quit, before, {
      now,
      queueLength: this.#queue.length,
      fetched,
      progressed,
      allStuck: isAllStuck(this.#schedule),
      triedAll: isTriedAll(this.#schedule),
    });
    this.#stay = decision.quit ? undefined : decision.state;
    if (decision.drain) this.#apply({ kind: "drain" });
    if (decision.quit) this.quits += 1;
    return decision.quit;
  }

  #priority(task: number): number {
    return this.work.priority?.(task) ?? 0;
  }

  #apply(event: ScheduleEvent): void {
    const decision = scheduleTransition(this.policy, this.#schedule, event);
    this.#schedule = decision.state;
    if (decision.preempted) this.preemptions += 1;
  }
}
