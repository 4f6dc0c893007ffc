import {
  insertPosition,
  isAllStuck,
  isTriedAll,
  type QuitState,
  quitTransition,
  type ScheduleEvent,
  type ScheduleState,
  scheduleTransition,
  started,
  startedAt,
  wantsFetch,
} from "@dfccl/scheduler";
import type { RunningCollective } from "./running-collective.js";
import type { HostAction } from "./scenario.js";
import type { ScheduleSimulation } from "./simulate-schedule.js";

interface Visits {
  fetched: boolean;
  progressed: boolean;
  count: number;
}

/** One rank: its host, and its daemon while that is on the device. */
export class SimulatedRank {
  /** When it is woken next; later entries of the event queue are stale. */
  wakeAt = Number.POSITIVE_INFINITY;
  preemptions = 0;
  quits = 0;
  completed = 0;
  /** `queueLengths[i]`: of the task queue after the i-th submission was taken in. */
  readonly queueLengths: number[] = [];
  /** `preemptionsOf[i]`: of the i-th submission's collective, here. */
  readonly preemptionsOf: number[] = [];
  #hostNext = 0;
  #hostFreeAt = 0;
  #isSynchronizing = false;
  readonly #submitted: number[] = [];
  #fetched = 0;
  #queue: number[] = []; // positions in #submitted
  #schedule: ScheduleState;
  #stay: QuitState | undefined;
  #launchedAt = 0; // while the daemon is out: when the next one may begin
  /** A task whose polls fail since then; they are counted when something happens. */
  #waitingSince: number | undefined;

  constructor(
    readonly world: ScheduleSimulation,
    readonly rank: number,
    readonly actions: readonly HostAction[],
  ) {
    this.#schedule = started(world.scenario.policy);
  }

  get isFinished(): boolean {
    return this.#hostNext === this.actions.length && this.completed === this.#submitted.length && !this.#isSynchronizing;
  }

  /** A neighbour has moved: a poll that would have failed may succeed. */
  notify(): void {
    const running = this.#current();
    if (this.#stay !== undefined && running !== undefined) this.world.wake(this, Math.max(running.readyAt(this.rank), this.world.now));
  }

  /** Does what is due now, and says when to come back. */
  step(): void {
    const { now } = this.world;
    this.#host(now);
    this.#launch(now);
    if (this.#stay !== undefined) this.#visit(this.#stay, now);
    else if (this.completed < this.#submitted.length && !this.#isSynchronizing) this.world.wake(this, this.#launchedAt);
    const next = this.actions[this.#hostNext];
    if (next !== undefined && !this.#isSynchronizing) this.world.wake(this, Math.max(next.atNs, this.#hostFreeAt, now));
  }

  #host(now: number): void {
    if (this.#isSynchronizing && this.#stay === undefined) {
      this.#isSynchronizing = false;
      this.#hostFreeAt = now;
    }
    while (!this.#isSynchronizing) {
      const action = this.actions[this.#hostNext];
      if (action === undefined || action.atNs > now || this.#hostFreeAt > now) return;
      this.#hostNext += 1;
      if (action.collective === undefined) this.#isSynchronizing = this.#stay !== undefined;
      else this.#submitted.push(action.collective);
      this.#launch(now); // a synchronization right behind waits for the daemon that the submission starts
    }
  }

  // At a submission, and whenever completions are fewer than submissions; not while the device synchronizes.
  #launch(now: number): void {
    const isNeeded = this.#stay === undefined && !this.#isSynchronizing && this.completed < this.#submitted.length;
    if (!isNeeded || now < this.#launchedAt) return;
    this.#stay = startedAt(now);
    this.#schedule = started(this.world.scenario.policy, this.#queue.length, this.#schedule.cursor);
  }

  #visit(stay: QuitState, now: number): void {
    const { policy, costs } = this.world.scenario;
    const visits: Visits = { fetched: false, progressed: false, count: 1 };
    const failed = this.#failedPolls(now);
    if (failed > 0) visits.count = failed;
    let doneAt = now;
    const hadTurn = failed > 0 && this.#fail(failed);
    if (hadTurn) doneAt += costs.switchNs;
    visits.fetched = this.#fetch();
    const running = this.#current();
    if (!hadTurn && running !== undefined && running.readyAt(this.rank) <= now) {
      visits.progressed = true;
      doneAt = this.#progress(running, now);
    }
    const quitState = { ...stay, quietVisits: stay.quietVisits + visits.count - 1 };
    const decision = quitTransition(policy.quit, quitState, {
      now: doneAt,
      queueLength: this.#queue.length,
      fetched: visits.fetched,
      progressed: visits.progressed,
      allStuck: isAllStuck(this.#schedule),
      triedAll: isTriedAll(this.#schedule),
    });
    this.#stay = decision.state;
    if (decision.drain) this.#apply({ kind: "drain" });
    if (decision.quit) this.#quit(doneAt);
    else if (doneAt > now) this.world.wake(this, doneAt);
    else this.#sleep(decision.state, now);
  }

  // When the next visit is that can make a difference.
  #sleep(stay: QuitState, now: number): void {
    const { policy, costs } = this.world.scenario;
    const running = this.#current();
    const readyAt = running?.readyAt(this.rank) ?? Number.POSITIVE_INFINITY;
    if (readyAt <= now) {
      this.world.wake(this, now + costs.pollNs);
      return;
    }
    this.#waitingSince = now;
    const { threshold, failures } = this.#schedule.current;
    // With one stream nobody else may run, so a turn that ends goes to the same task again.
    const isPatient = running === undefined || policy.streams === 1;
    const patience = isPatient ? Number.POSITIVE_INFINITY : Math.max(threshold - failures, 1);
    const visits = Math.min(patience, this.#visitsUntilQuit(stay));
    this.world.wake(this, Math.min(now + visits * costs.pollNs, readyAt));
  }

  #visitsUntilQuit({ quietVisits }: QuitState): number {
    const { quit } = this.world.scenario.policy;
    const mayQuit = quit.kind === "voluntary" || (quit.kind === "whenEmpty" && this.#queue.length === 0);
    if (!mayQuit) return Number.POSITIVE_INFINITY;
    if (quit.idleVisits > quietVisits) return quit.idleVisits - quietVisits;
    return isAllStuck(this.#schedule) ? 1 : Number.POSITIVE_INFINITY;
  }

  #failedPolls(now: number): number {
    if (this.#waitingSince === undefined) return 0;
    const visits = Math.max(1, Math.ceil((now - this.#waitingSince) / this.world.scenario.costs.pollNs));
    this.#waitingSince = undefined;
    return visits;
  }

  // Counts polls that failed one after the other. @returns whether the task lost its turn to another.
  #fail(polls: number): boolean {
    const position = this.#schedule.cursor;
    const task = this.#queue[position];
    if (task === undefined) {
      this.#apply({ kind: "idle" });
      return false;
    }
    const { current } = this.#schedule;
    const more = Math.min(polls, Math.max(current.threshold - current.failures, 1)) - 1;
    this.#schedule = {
      ...this.#schedule,
      current: { ...current, failures: current.failures + more },
      visitsSinceFetch: this.#schedule.visitsSinceFetch + more,
      visitsSinceProgress: this.#schedule.visitsSinceProgress + more,
    };
    if (!this.#apply({ kind: "stuck" })) return false;
    this.preemptionsOf[task] = (this.preemptionsOf[task] ?? 0) + 1;
    return true;
  }

  #fetch(): boolean {
    const { policy, collectives } = this.world.scenario;
    if (!wantsFetch(policy, this.#schedule)) return false;
    let taken = 0;
    while (taken < policy.order.fetchBatch && this.#fetched < this.#submitted.length) {
      const priorities = this.#queue.map((task) => this.#priority(task));
      const position = insertPosition(policy.order, priorities, this.#priority(this.#fetched));
      this.#queue.splice(position, 0, this.#fetched);
      this.#fetched += 1;
      taken += 1;
      this.#apply({ kind: "fetched", position });
      this.queueLengths.push(this.#queue.length);
    }
    if (taken === 0) this.#apply({ kind: "fetchedNothing" });
    return taken > 0 && collectives.length > 0;
  }

  #priority(task: number): number {
    return this.world.scenario.collectives[this.#submitted[task] ?? -1]?.priority ?? 0;
  }

  #progress(running: RunningCollective, now: number): number {
    const { doneAt, isComplete } = running.commit(now, this.rank, this.world.links);
    for (const neighbour of running.neighbours(this.rank)) this.world.rank(neighbour)?.notify();
    if (isComplete) {
      const [task = -1] = this.#queue.splice(this.#schedule.cursor, 1);
      this.completed += 1;
      this.world.finish(this.#submitted[task] ?? -1, doneAt);
    }
    this.#apply({ kind: isComplete ? "completed" : "progressed" });
    return doneAt + this.world.scenario.costs.stepNs;
  }

  #quit(now: number): void {
    this.quits += 1;
    this.#stay = undefined;
    this.#waitingSince = undefined;
    this.#launchedAt = now + this.world.scenario.costs.restartNs;
    this.world.wake(this, now);
  }

  #current(): RunningCollective | undefined {
    const task = this.#queue[this.#schedule.cursor];
    return task === undefined ? undefined : this.world.running(this.#submitted[task] ?? -1);
  }

  #apply(event: ScheduleEvent): boolean {
    const decision = scheduleTransition(this.world.scenario.policy, this.#schedule, event);
    this.#schedule = decision.state;
    if (decision.preempted) this.preemptions += 1;
    return decision.preempted;
  }
}
