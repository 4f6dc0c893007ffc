import {
  insertPosition,
  type ScheduleDecision,
  type ScheduleEvent,
  type SchedulePolicy,
  type ScheduleState,
  scheduleTransition,
  started,
} from "../src/index.js";

export interface ModelTask {
  readonly name: number;
  readonly priority: number;
  /** Polls that succeed before the task completes; undefined: every poll fails. */
  slicesLeft: number | undefined;
  /** Visit of its last poll; of its entry before the first. */
  lastPolledAt: number;
  polledThisStay: boolean;
  /** Used up a threshold since the last progress of any task. */
  failedTurn: boolean;
}

/** A block with a queue of named tasks, so that tests can check the schedule's counters against what really happened. */
export class BlockModel {
  queue: ModelTask[] = [];
  state: ScheduleState;
  visit = 0;
  #names = 0;

  constructor(readonly policy: SchedulePolicy) {
    this.state = started(policy);
  }

  restart(): void {
    this.state = started(this.policy, this.queue.length, this.state.cursor);
    for (const task of this.queue) {
      task.polledThisStay = false;
      task.failedTurn = false;
    }
  }

  enter(priority: number, slices: number | undefined): void {
    const priorities = this.queue.map((task) => task.priority);
    const position = insertPosition(this.policy.order, priorities, priority);
    this.queue.splice(position, 0, {
      name: this.#names++,
      priority,
      slicesLeft: slices,
      lastPolledAt: this.visit,
      polledThisStay: false,
      failedTurn: false,
    });
    this.#apply({ kind: "fetched", position });
  }

  /** One visit. Returns how long the polled task had waited for it, in visits. */
  poll(isReady = true): { waited: number; progressed: boolean } {
    this.visit += 1;
    const task = this.queue[this.state.cursor];
    if (task === undefined) {
      this.#apply({ kind: "idle" });
      return { waited: 0, progressed: false };
    }
    const waited = this.visit - task.lastPolledAt;
    task.lastPolledAt = this.visit;
    task.polledThisStay = true;
    if (task.slicesLeft === undefined || !isReady) {
      const usesThreshold = this.state.current.failures + 1 >= this.state.current.threshold;
      this.#apply({ kind: "stuck" });
      if (usesThreshold) task.failedTurn = true;
      return { waited, progressed: false };
    }
    for (const other of this.queue) other.failedTurn = false;
    task.slicesLeft -= 1;
    if (task.slicesLeft > 0) {
      this.#apply({ kind: "progressed" });
    } else {
      this.queue.splice(this.state.cursor, 1);
      this.#apply({ kind: "completed" });
    }
    return { waited, progressed: true };
  }

  drain(): void {
    this.#apply({ kind: "drain" });
  }

  #apply(event: ScheduleEvent): ScheduleDecision {
    const decision = scheduleTransition(this.policy, this.state, event);
    this.state = decision.state;
    return decision;
  }
}
