import {
  insertPosition,
  isAllStuck,
  isTriedAll,
  type QuitState,
  quitTransition,
  type ScheduleEvent,
  type SchedulePolicy,
  type ScheduleState,
  scheduleTransition,
  started,
  startedAt,
  wantsFetch,
} from "../src/index.js";

export interface Scenario {
  readonly policy: SchedulePolicy;
  /** `orders[rank]`: the collectives in the order in which that rank submits them. */
  readonly orders: readonly (readonly number[])[];
  /** `syncAfter[rank]`: positions in its order after which a rank waits until its daemon has left. */
  readonly syncAfter?: readonly ReadonlySet<number>[];
  /** Steps of each collective on each rank: a ring, so step k needs the left neighbour's step k - 1. */
  readonly steps?: number;
  /** A number in [0, 1) from a seed: which rank's turn it is. */
  readonly random: () => number;
}

export interface Outcome {
  readonly finished: boolean;
  readonly preemptions: number;
  readonly quits: number;
}

const slotCount = 2;

/** Ranks whose daemons run collectives over rings of connectors, one visit of one random rank at a time. */
class World {
  /** `done[collective][rank]`: committed steps. They stay visible to the neighbours, whatever is preempted or quits. */
  readonly done: number[][];
  readonly steps: number;
  clock = 0;
  lastChange = 0;
  preemptions = 0;
  quits = 0;
  readonly #ranks: Rank[];

  constructor(readonly scenario: Scenario) {
    const { orders } = scenario;
    this.steps = scenario.steps ?? 4;
    this.done = (orders[0] ?? []).map(() => orders.map(() => 0));
    this.#ranks = orders.map((order, rank) => new Rank(this, rank, order));
  }

  isReady(collective: number, rank: number): boolean {
    const done = this.done[collective] ?? [];
    const mine = done[rank] ?? 0;
    const left = done.at(rank - 1) ?? 0;
    const right = done[(rank + 1) % done.length] ?? 0;
    return left >= mine && mine - right < slotCount;
  }

  /** Runs until every rank has completed everything, or nothing has changed for so long that nothing ever will. */
  run(): Outcome {
    const quietVisits = 3000 * this.#ranks.length;
    while (this.clock - this.lastChange < quietVisits) {
      if (this.#ranks.every((rank) => rank.isFinished)) {
        return { finished: true, preemptions: this.preemptions, quits: this.quits };
      }
      this.clock += 1;
      this.#ranks[Math.floor(this.scenario.random() * this.#ranks.length)]?.visit();
    }
    return { finished: false, preemptions: this.preemptions, quits: this.quits };
  }
}

class Rank {
  #submitted = 0;
  #fetched = 0;
  #completed = 0;
  #isSynchronizing = false;
  #stay: QuitState | undefined;
  #queue: number[] = [];
  #schedule: ScheduleState;

  constructor(
    readonly world: World,
    readonly rank: number,
    readonly order: readonly number[],
  ) {
    this.#schedule = started(world.scenario.policy);
  }

  get isFinished(): boolean {
    return this.#completed === this.order.length && !this.#isSynchronizing;
  }

  visit(): void {
    this.#host();
    if (this.#stay !== undefined) this.#daemon(this.#stay);
  }

  #host(): void {
    if (this.#isSynchronizing) {
      if (this.#stay !== undefined) return;
      this.#isSynchronizing = false;
      this.world.lastChange = this.world.clock;
    }
    if (this.#submitted < this.order.length && this.world.scenario.random() < 0.5) {
      this.#isSynchronizing = this.world.scenario.syncAfter?.[this.rank]?.has(this.#submitted) === true;
      this.#submitted += 1;
      this.world.lastChange = this.world.clock;
    }
    // Started at a submission, and whenever completions are fewer than submissions.
    if (this.#stay === undefined && this.#completed < this.#submitted) {
      this.#stay = startedAt(this.world.clock);
      this.#schedule = started(this.world.scenario.policy, this.#queue.length, this.#schedule.cursor);
    }
  }

  #daemon(stay: QuitState): void {
    const { policy } = this.world.scenario;
    const fetched = this.#fetch();
    const progressed = this.#poll();
    const decision = quitTransition(policy.quit, stay, {
      now: this.world.clock,
      queueLength: this.#queue.length,
      fetched,
      progressed,
      allStuck: isAllStuck(this.#schedule),
      triedAll: isTriedAll(this.#schedule),
    });
    this.#stay = decision.quit ? undefined : decision.state;
    if (decision.drain) this.#apply({ kind: "drain" });
    if (decision.quit) this.world.quits += 1;
    if (fetched || progressed) this.world.lastChange = this.world.clock;
  }

  #fetch(): boolean {
    const { policy } = this.world.scenario;
    if (!wantsFetch(policy, this.#schedule)) return false;
    const collective = this.order[this.#fetched];
    if (collective === undefined || this.#fetched === this.#submitted) {
      this.#apply({ kind: "fetchedNothing" });
      return false;
    }
    this.#fetched += 1;
    // Later collectives are more urgent: the practical scheme that the papers name.
    const position = insertPosition(policy.order, this.#queue, collective);
    this.#queue.splice(position, 0, collective);
    this.#apply({ kind: "fetched", position });
    return true;
  }

  #poll(): boolean {
    const collective = this.#queue[this.#schedule.cursor];
    const done = collective === undefined ? undefined : this.world.done[collective];
    if (collective === undefined || done === undefined) {
      this.#apply({ kind: "idle" });
      return false;
    }
    if (!this.world.isReady(collective, this.rank)) {
      this.#apply({ kind: "stuck" });
      return false;
    }
    const committed = (done[this.rank] ?? 0) + 1;
    done[this.rank] = committed;
    if (committed < this.world.steps) {
      this.#apply({ kind: "progressed" });
    } else {
      this.#queue.splice(this.#schedule.cursor, 1);
      this.#completed += 1;
      this.#apply({ kind: "completed" });
    }
    return true;
  }

  #apply(event: ScheduleEvent): void {
    const decision = scheduleTransition(this.world.scenario.policy, this.#schedule, event);
    this.#schedule = decision.state;
    if (decision.preempted) this.world.preemptions += 1;
  }
}

export function simulate(scenario: Scenario): Outcome {
  return new World(scenario).run();
}
