import { EventQueue } from "./event-queue.js";
import { RunningCollective } from "./running-collective.js";
import type { ScheduleScenario } from "./scenario.js";
import { SimulatedRank } from "./simulated-rank.js";
import { Links } from "./topology.js";

export interface ScheduleResult {
  /** Everything completed; otherwise nothing can move any more, which is a deadlock. */
  readonly finished: boolean;
  readonly endNs: number;
  /** `completedAtNs[collective]`: on its last rank; Infinity if never. */
  readonly completedAtNs: readonly number[];
  readonly preemptions: number;
  readonly quits: number;
  readonly events: number;
  readonly ranks: readonly RankResult[];
}

export interface RankResult {
  readonly preemptions: number;
  readonly quits: number;
  readonly queueLengths: readonly number[];
  readonly preemptionsOf: readonly number[];
}

// Without any progress for so long, on a simulation whose longest wait is a few milliseconds.
const quietNs = 1e9;

/** Simulates daemons on ranks, event by event, with the very policies of packages/scheduler. */
export function simulateSchedule(scenario: ScheduleScenario): ScheduleResult {
  return new ScheduleSimulation(scenario).run();
}

export class ScheduleSimulation {
  readonly links: Links;
  now = 0;
  readonly #events = new EventQueue();
  readonly #ranks: readonly SimulatedRank[];
  readonly #running = new Map<number, RunningCollective>();
  readonly #completions: Int32Array;
  readonly #completedAt: number[];
  #progressAt = 0;
  #handled = 0;

  constructor(readonly scenario: ScheduleScenario) {
    this.links = new Links(scenario.topology);
    this.#ranks = scenario.hosts.map((actions, rank) => new SimulatedRank(this, rank, actions));
    this.#completions = new Int32Array(scenario.collectives.length);
    this.#completedAt = scenario.collectives.map(() => Number.POSITIVE_INFINITY);
  }

  rank(rank: number): SimulatedRank | undefined {
    return this.#ranks[rank];
  }

  /** Makes sure that a rank steps at a time, or before. */
  wake(rank: SimulatedRank, time: number): void {
    if (time >= rank.wakeAt || !Number.isFinite(time)) return;
    rank.wakeAt = time;
    this.#events.add(time, rank.rank);
  }

  running(collective: number): RunningCollective | undefined {
    const known = this.#running.get(collective);
    const description = this.scenario.collectives[collective];
    if (known !== undefined || description === undefined) return known;
    const begun = new RunningCollective(description);
    this.#running.set(collective, begun);
    return begun;
  }

  finish(collective: number, time: number): void {
    const count = (this.#completions[collective] ?? 0) + 1;
    this.#completions[collective] = count;
    if (count < (this.scenario.collectives[collective]?.ranks.length ?? 0)) return;
    this.#completedAt[collective] = time;
    this.#running.delete(collective);
  }

  run(): ScheduleResult {
    for (const rank of this.#ranks) this.wake(rank, rank.actions[0]?.atNs ?? Number.POSITIVE_INFINITY);
    let unfinished = this.#ranks.filter((rank) => !rank.isFinished).length;
    for (let event = this.#events.take(); event !== undefined; event = this.#events.take()) {
      const rank = this.#ranks[event.rank];
      if (rank === undefined || rank.wakeAt !== event.time) continue;
      this.now = event.time;
      this.#handled += 1;
      rank.wakeAt = Number.POSITIVE_INFINITY;
      const [completed, wasFinished] = [rank.completed, rank.isFinished];
      rank.step();
      if (rank.completed > completed) this.#progressAt = this.now;
      unfinished += Number(wasFinished) - Number(rank.isFinished);
      if (unfinished === 0 || this.now - this.#progressAt > quietNs) break;
    }
    return {
      finished: unfinished === 0,
      endNs: this.#completedAt.reduce((latest, time) => (Number.isFinite(time) ? Math.max(latest, time) : latest), 0),
      completedAtNs: this.#completedAt,
      preemptions: this.#ranks.reduce((sum, rank) => sum + rank.preemptions, 0),
      quits: this.#ranks.reduce((sum, rank) => sum + rank.quits, 0),
      events: this.#handled,
      ranks: this.#ranks.map(({ preemptions, quits, queueLengths, preemptionsOf }) => ({
        preemptions,
        quits,
        queueLengths,
        preemptionsOf,
      })),
    };
  }
}
