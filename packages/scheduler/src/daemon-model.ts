import { insertPosition } from "./order-policy.js";
import { type QuitState, quitTransition, startedAt } from "./quit-policy.js";
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

/**
 * A daemon of one block as its policies see it (dfccl.txt sections 4.3 and 4.4), for simulators: a task queue, whose turn it
 * is, and when it leaves. The queue outlives a stay. One request is taken in a visit.
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
    this.#schedule = started(policy);
  }

  get isResident(): boolean {
    return this.#stay !== undefined;
  }

  /** Begins a stay. @param now - in ticks of the policy's clock. */
  start(now: number): void {
    this.#stay = startedAt(now);
    this.#schedule = started(this.policy, this.#queue.length, this.#schedule.cursor);
  }

  /** One bounded step; nothing while it is out. @returns whether anything was taken in or went on. */
  visit(now: number): boolean {
    if (this.#stay === undefined) return false;
    const fetched = this.#fetch();
    const progressed = this.#poll();
    const decision = quitTransition(this.policy.quit, this.#stay, {
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
    return fetched || progressed;
  }

  #fetch(): boolean {
    if (!wantsFetch(this.policy, this.#schedule)) return false;
    const task = this.work.next();
    if (task === undefined) {
      this.#apply({ kind: "fetchedNothing" });
      return false;
    }
    const position = insertPosition(
      this.policy.order,
      this.#queue.map((queued) => this.#priority(queued)),
      this.#priority(task),
    );
    this.#queue.splice(position, 0, task);
    this.#apply({ kind: "fetched", position });
    return true;
  }

  #poll(): boolean {
    const task = this.#queue[this.#schedule.cursor];
    if (task === undefined) {
      this.#apply({ kind: "idle" });
      return false;
    }
    const kind = this.work.poll(task);
    if (kind === "completed") this.#queue.splice(this.#schedule.cursor, 1);
    this.#apply({ kind });
    return kind !== "stuck";
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
