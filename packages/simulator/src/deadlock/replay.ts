import {
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
} from "@dfccl/scheduler";
import type { RandomStream } from "./random-stream.js";
import { SYNCHRONIZATION } from "./sequences.js";

/** GPUs, what each does, and who takes part in a collective. */
export interface ReplayScenario {
  /** `sequences[gpu]`: collectives and {@link SYNCHRONIZATION}s in the GPU's order. */
  readonly sequences: readonly (readonly number[])[];
  readonly policy: SchedulePolicy;
  /** Whose turn it is to make a step. */
  readonly random: RandomStream;
}

export interface ReplayOutcome {
  /** Every GPU completed everything; otherwise nothing moves any more. */
  readonly finished: boolean;
  readonly preemptions: number;
  readonly quits: number;
}

// Around a ring, each step needs the step before of the left neighbour; as many steps as GPUs, so each needs all others.
// Slots let a GPU run ahead of its right neighbour.
const slots = 2;
// A policy's patience is a few hundred visits; what is quiet for so long on every GPU stays quiet.
const quietVisits = 1000;

/**
 * Runs event sequences on daemons with the very policies of packages/scheduler: task queues, thresholds, preemption, quits.
 * A synchronization returns when the GPU's daemon has left.
 */
export function replay(scenario: ReplayScenario): ReplayOutcome {
  return new World(scenario).run();
}

class World {
  readonly gpus: readonly Gpu[];
  clock = 0;
  lastChange = 0;
  preemptions = 0;
  quits = 0;
  readonly #rings = new Map<number, readonly number[]>();
  readonly #committed = new Map<number, Map<number, number>>();

  constructor(readonly scenario: ReplayScenario) {
    const members = new Map<number, number[]>();
    scenario.sequences.forEach((sequence, gpu) => {
      for (const collective of sequence) {
        if (collective === SYNCHRONIZATION) continue;
        const ring = members.get(collective) ?? [];
        ring.push(gpu);
        members.set(collective, ring);
      }
    });
    for (const [collective, ring] of members) {
      this.#rings.set(collective, ring);
      this.#committed.set(collective, new Map(ring.map((gpu) => [gpu, 0])));
    }
    this.gpus = scenario.sequences.map((sequence, gpu) => new Gpu(this, gpu, sequence));
  }

  /** Commits a GPU's next step of a collective, if its neighbours are far enough. */
  tryStep(collective: number, gpu: number): "stuck" | "progressed" | "completed" {
    const ring = this.#rings.get(collective) ?? [];
    const committed = this.#committed.get(collective);
    const place = ring.indexOf(gpu);
    const of = (at: number): number => committed?.get(ring.at(at % ring.length) ?? gpu) ?? 0;
    const mine = of(place);
    if (ring.length > 1 && (of(place - 1 + ring.length) < mine || mine - of(place + 1) >= slots)) return "stuck";
    committed?.set(gpu, mine + 1);
    return mine + 1 >= ring.length ? "completed" : "progressed";
  }

  run(): ReplayOutcome {
    const unfinished = new Set(this.gpus);
    while (unfinished.size > 0 && this.clock - this.lastChange < quietVisits * this.gpus.length) {
      this.clock += 1;
      const gpu = this.gpus[this.scenario.random.below(this.gpus.length)];
      gpu?.visit();
      if (gpu?.isFinished) unfinished.delete(gpu);
    }
    return { finished: unfinished.size === 0, preemptions: this.preemptions, quits: this.quits };
  }
}

class Gpu {
  #next = 0;
  #fetched = 0;
  #submitted: number[] = [];
  #completed = 0;
  #isSynchronizing = false;
  #stay: QuitState | undefined;
  #queue: number[] = [];
  #schedule: ScheduleState;

  constructor(
    readonly world: World,
    readonly gpu: number,
    readonly sequence: readonly number[],
  ) {
    this.#schedule = started(world.scenario.policy);
  }

  get isFinished(): boolean {
    return this.#next === this.sequence.length && this.#completed === this.#submitted.length && !this.#isSynchronizing;
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
    const action = this.sequence[this.#next];
    if (action !== undefined) {
      this.#next += 1;
      this.world.lastChange = this.world.clock;
      if (action === SYNCHRONIZATION) this.#isSynchronizing = this.#stay !== undefined;
      else this.#submitted.push(action);
    }
    // Started at a submission, and whenever completions are fewer than submissions; not while the device synchronizes.
    if (this.#stay === undefined && !this.#isSynchronizing && this.#completed < this.#submitted.length) {
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
    if (!wantsFetch(this.world.scenario.policy, this.#schedule)) return false;
    const collective = this.#submitted[this.#fetched];
    if (collective === undefined) {
      this.#apply({ kind: "fetchedNothing" });
      return false;
    }
    this.#fetched += 1;
    this.#queue.push(collective);
    this.#apply({ kind: "fetched", position: this.#queue.length - 1 });
    return true;
  }

  #poll(): boolean {
    const collective = this.#queue[this.#schedule.cursor];
    if (collective === undefined) {
      this.#apply({ kind: "idle" });
      return false;
    }
    const kind = this.world.tryStep(collective, this.gpu);
    if (kind === "completed") {
      this.#queue.splice(this.#schedule.cursor, 1);
      this.#completed += 1;
    }
    this.#apply({ kind });
    return kind !== "stuck";
  }

  #apply(event: ScheduleEvent): void {
    const decision = scheduleTransition(this.world.scenario.policy, this.#schedule, event);
    this.#schedule = decision.state;
    if (decision.preempted) this.world.preemptions += 1;
  }
}
