import { DaemonModel, type SchedulePolicy } from "../src/index.js";

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
        return this.#outcome(true);
      }
      this.clock += 1;
      this.#ranks[Math.floor(this.scenario.random() * this.#ranks.length)]?.visit();
    }
    return this.#outcome(false);
  }

  #outcome(finished: boolean): Outcome {
    const sum = (of: (daemon: DaemonModel) => number): number => this.#ranks.reduce((total, { daemon }) => total + of(daemon), 0);
    return { finished, preemptions: sum((daemon) => daemon.preemptions), quits: sum((daemon) => daemon.quits) };
  }
}

class Rank {
  readonly daemon: DaemonModel;
  #submitted = 0;
  #fetched = 0;
  #completed = 0;
  #isSynchronizing = false;

  constructor(
    readonly world: World,
    readonly rank: number,
    readonly order: readonly number[],
  ) {
    this.daemon = new DaemonModel(world.scenario.policy, {
      next: () => (this.#fetched === this.#submitted ? undefined : this.order[this.#fetched++]),
      poll: (collective) => this.#poll(collective),
      // Later collectives are more urgent: the practical scheme that the papers name.
      priority: (collective) => collective,
    });
  }

  get isFinished(): boolean {
    return this.#completed === this.order.length && !this.#isSynchronizing;
  }

  visit(): void {
    this.#host();
    if (this.daemon.visit(this.world.clock)) this.world.lastChange = this.world.clock;
  }

  #host(): void {
    if (this.#isSynchronizing) {
      if (this.daemon.isResident) return;
      this.#isSynchronizing = false;
      this.world.lastChange = this.world.clock;
    }
    if (this.#submitted < this.order.length && this.world.scenario.random() < 0.5) {
      this.#isSynchronizing = this.world.scenario.syncAfter?.[this.rank]?.has(this.#submitted) === true;
      this.#submitted += 1;
      this.world.lastChange = this.world.clock;
    }
    // Started at a submission, and whenever completions are fewer than submissions.
    if (!this.daemon.isResident && this.#completed < this.#submitted) this.daemon.start(this.world.clock);
  }

  #poll(collective: number): "stuck" | "progressed" | "completed" {
    const done = this.world.done[collective] ?? [];
    if (!this.world.isReady(collective, this.rank)) return "stuck";
    const committed = (done[this.rank] ?? 0) + 1;
    done[this.rank] = committed;
    if (committed < this.world.steps) return "progressed";
    this.#completed += 1;
    return "completed";
  }
}

export function simulate(scenario: Scenario): Outcome {
  return new World(scenario).run();
}
