import { DaemonModel, isAllStuck } from "@dfccl/scheduler";
import type { RunningCollective } from "./running-collective.js";
import type { HostAction, ScheduleScenario } from "./scenario.js";
import type { Links } from "./topology.js";

/** What a rank needs of the simulation that it is part of. */
export interface SimulatedWorld {
  readonly scenario: ScheduleScenario;
  readonly options: {
    readonly everyPoll?: boolean;
    readonly onQueueLength?: (rank: number, atNs: number, length: number) => void;
  };
  readonly links: Links;
  readonly now: number;
  rank(rank: number): SimulatedRank | undefined;
  /** Makes sure that a rank steps at a time, or before. */
  wake(rank: SimulatedRank, time: number): void;
  running(collective: number): RunningCollective | undefined;
  /** A host has gone on, or a step was committed. @param until - when the last of what that set off is there. */
  noteProgress(until: number): void;
  finish(collective: number, time: number): void;
}

/**
 * One rank: its host, and its daemon while that is on the device. The daemon visits every `pollNs` while it waits; visits that
 * are known to find nothing are skipped, and counted at the next one that may.
 */
export class SimulatedRank {
  /** When it is woken next; later entries of the event queue are stale. */
  wakeAt = Number.POSITIVE_INFINITY;
  completed = 0;
  /** `queueLengths[i]`: of the task queue after the i-th submission was taken in. */
  readonly queueLengths: number[] = [];
  /** `preemptionsOf[i]`: of the i-th submission's collective, here. */
  readonly preemptionsOf: number[] = [];
  readonly #daemon: DaemonModel; // its tasks are positions in #submitted
  readonly #submitted: number[] = [];
  #fetched = 0;
  #hostNext = 0;
  #hostFreeAt = 0;
  #isSynchronizing = false;
  #launchedAt = 0; // while the daemon is out: when the next one may begin
  #busyUntil = 0; // of the daemon: a step or a switch takes until then
  /** When the poll was that found nothing; since then, all did. */
  #waitingSince: number | undefined;

  constructor(
    readonly world: SimulatedWorld,
    readonly rank: number,
    readonly actions: readonly HostAction[],
  ) {
    const { policy, collectives } = world.scenario;
    this.#daemon = new DaemonModel(policy, {
      next: () => (this.#fetched < this.#submitted.length ? this.#fetched++ : undefined),
      poll: () => this.#commit(),
      priority: (task) => collectives[this.#submitted[task] ?? -1]?.priority ?? 0,
    });
  }

  get preemptions(): number {
    return this.#daemon.preemptions;
  }

  get quits(): number {
    return this.#daemon.quits;
  }

  get isFinished(): boolean {
    return this.#hostNext === this.actions.length && this.completed === this.#submitted.length && !this.#isSynchronizing;
  }

  /** Its host acts at a later time: something will happen, however long it takes. */
  get isExpectingSomething(): boolean {
    const next = this.actions[this.#hostNext];
    return next !== undefined && !this.#isSynchronizing && next.atNs > this.world.now;
  }

  /** A neighbour has moved: a poll that would have failed may succeed. */
  notify(): void {
    if (this.#daemon.isResident && this.#waitingSince !== undefined)
      this.world.wake(this, this.#pollFrom(Math.max(this.#readyAt(), this.world.now)));
  }

  /** Does what is due now, and says when to come back. */
  step(): void {
    const { now } = this.world;
    this.#host(now);
    this.#launch(now);
    if (this.#daemon.isResident) {
      // The host may have come between two polls, or during a step.
      const visitAt = this.#waitingSince === undefined ? Math.max(this.#busyUntil, now) : this.#pollFrom(now);
      if (visitAt > now) this.world.wake(this, visitAt);
      else this.#visit(now);
    } else if (this.completed < this.#submitted.length && !this.#isSynchronizing) {
      this.world.wake(this, this.#launchedAt);
    }
    const next = this.actions[this.#hostNext];
    if (next !== undefined && !this.#isSynchronizing) this.world.wake(this, Math.max(next.atNs, this.#hostFreeAt, now));
  }

  #host(now: number): void {
    if (this.#isSynchronizing && !this.#daemon.isResident) {
      this.#isSynchronizing = false;
      this.#hostFreeAt = now;
    }
    while (!this.#isSynchronizing) {
      const action = this.actions[this.#hostNext];
      if (action === undefined || action.atNs > now || this.#hostFreeAt > now) return;
      this.#hostNext += 1;
      this.world.noteProgress(now);
      if (action.collective === undefined) this.#isSynchronizing = this.#daemon.isResident;
      else this.#submitted.push(action.collective);
      this.#launch(now); // a synchronization right behind waits for the daemon that the submission starts
    }
  }

  // At a submission, and whenever completions are fewer than submissions; not while the device synchronizes.
  #launch(now: number): void {
    const isNeeded = !this.#daemon.isResident && !this.#isSynchronizing && this.completed < this.#submitted.length;
    if (!isNeeded || now < this.#launchedAt) return;
    this.#daemon.start(now);
    this.#busyUntil = now;
    this.#waitingSince = undefined;
  }

  #visit(now: number): void {
    const failed = this.#waitingSince === undefined ? 0 : this.#pollsBetween(this.#waitingSince, now);
    this.#waitingSince = undefined;
    this.#busyUntil = now;
    const lostTurn = failed > 0 && this.#fail(failed);
    const fetched = this.#fetch();
    const progressed = !lostTurn && this.#readyAt() <= now && this.#daemon.poll();
    const hasLeft = this.#daemon.end(this.#busyUntil, { fetched, progressed, visits: Math.max(failed, 1) });
    if (hasLeft) this.#leave(this.#busyUntil);
    else if (this.#busyUntil > now) this.world.wake(this, this.#busyUntil);
    else this.#sleep(now);
  }

  // Until the next visit that can make a difference.
  #sleep(now: number): void {
    const { pollNs } = this.world.scenario.costs;
    this.#waitingSince = now;
    const visits = this.world.options.everyPoll
      ? 1
      : Math.max(Math.min(this.#patience(), this.#visitsUntilLook(), this.#visitsUntilQuit(now)), 1);
    this.world.wake(this, Math.min(now + visits * pollNs, this.#pollFrom(Math.max(this.#readyAt(), now + pollNs))));
  }

  // Polls that may fail before the turn goes to another task.
  #patience(): number {
    const { schedule, queueLength } = this.#daemon;
    // With one stream nobody else may run, so a turn that ends goes to the same task again.
    if (queueLength === 0 || this.world.scenario.policy.streams === 1) return Number.POSITIVE_INFINITY;
    if (schedule.isDraining || schedule.urgent !== undefined) return 1;
    return schedule.current.threshold - schedule.current.failures;
  }

  // Until the daemon looks for new requests, where there are some.
  #visitsUntilLook(): number {
    if (this.#fetched === this.#submitted.length) return Number.POSITIVE_INFINITY;
    const { fetchEveryVisits, fetchWhenStuckVisits } = this.world.scenario.policy.order;
    const { schedule } = this.#daemon;
    const untilRegular = fetchEveryVisits === 0 ? Number.POSITIVE_INFINITY : fetchEveryVisits - schedule.visitsSinceFetch;
    const untilStuck = isAllStuck(schedule) ? fetchWhenStuckVisits - schedule.visitsSinceProgress : Number.POSITIVE_INFINITY;
    return Math.min(untilRegular, untilStuck);
  }

  #visitsUntilQuit(now: number): number {
    const { policy, costs } = this.world.scenario;
    const { kind, idleVisits, residencyTicks } = policy.quit;
    const { stay, schedule, queueLength } = this.#daemon;
    if (stay === undefined || kind === "never") return Number.POSITIVE_INFINITY;
    const untilLimit =
      kind === "voluntary" && residencyTicks > 0
        ? Math.ceil((stay.startedAt + residencyTicks - now) / costs.pollNs)
        : Number.POSITIVE_INFINITY;
    const mayIdle = queueLength === 0 || kind === "voluntary";
    const isStuck = idleVisits > stay.quietVisits || queueLength === 0 || isAllStuck(schedule);
    const untilIdle = mayIdle && isStuck ? idleVisits - stay.quietVisits : Number.POSITIVE_INFINITY;
    return Math.min(untilLimit, untilIdle);
  }

  // The first poll at or after a time.
  #pollFrom(time: number): number {
    const since = this.#waitingSince ?? time;
    return Number.isFinite(time) ? since + this.#pollsBetween(since, time) * this.world.scenario.costs.pollNs : time;
  }

  #pollsBetween(since: number, time: number): number {
    return Math.max(1, Math.ceil((time - since) / this.world.scenario.costs.pollNs - rounding));
  }

  // @returns whether the task lost its turn to another.
  #fail(polls: number): boolean {
    const task = this.#daemon.current;
    if (!this.#daemon.failPolls(polls) || task === undefined) return false;
    this.preemptionsOf[task] = (this.preemptionsOf[task] ?? 0) + 1;
    this.#busyUntil += this.world.scenario.costs.switchNs;
    return true;
  }

  #fetch(): boolean {
    const before = this.#daemon.queueLength;
    const taken = this.#daemon.fetch();
    for (let i = 1; i <= taken; i += 1) this.queueLengths.push(before + i);
    if (taken > 0) this.world.options.onQueueLength?.(this.rank, this.world.now, before + taken);
    return taken > 0;
  }

  // The daemon's poll of the current task, which is ready.
  #commit(): "progressed" | "completed" {
    const { now, links, scenario } = this.world;
    const collective = this.#submitted[this.#daemon.current ?? -1] ?? -1;
    const running = this.world.running(collective);
    if (running === undefined) return "progressed";
    const { doneAt, arrivesAt, isComplete } = running.commit(now, this.rank, links);
    this.#busyUntil = doneAt + scenario.costs.stepNs;
    // A send may outlast any patience, its sender's and that of all whose turn is another collective's.
    this.world.noteProgress(Math.max(this.#busyUntil, arrivesAt));
    for (const neighbour of running.neighbours(this.rank)) this.world.rank(neighbour)?.notify();
    if (isComplete) {
      this.completed += 1;
      this.world.finish(collective, doneAt);
      this.world.options.onQueueLength?.(this.rank, doneAt, this.#daemon.queueLength - 1);
    }
    return isComplete ? "completed" : "progressed";
  }

  #leave(now: number): void {
    this.#launchedAt = now + this.world.scenario.costs.restartNs;
    this.world.wake(this, now);
  }

  #readyAt(): number {
    return this.#current()?.readyAt(this.rank) ?? Number.POSITIVE_INFINITY;
  }

  #current(): RunningCollective | undefined {
    const task = this.#daemon.current;
    return task === undefined ? undefined : this.world.running(this.#submitted[task] ?? -1);
  }
}

// Of a poll: times are floating-point numbers.
const rounding = 1e-6;
