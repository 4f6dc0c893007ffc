import { DaemonModel, type SchedulePolicy } from "@dfccl/scheduler";
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
    return {
      finished: unfinished.size === 0,
      preemptions: this.gpus.reduce((total, { daemon }) => total + daemon.preemptions, 0),
      quits: this.gpus.reduce((total, { daemon }) => total + daemon.quits, 0),
    };
  }
}

class Gpu {
  readonly daemon: DaemonModel;
  #next = 0;
  #fetched = 0;
  #submitted: number[] = [];
  #completed = 0;
  #isSynchronizing = false;

  constructor(
    readonly world: World,
    readonly gpu: number,
    readonly sequence: readonly number[],
  ) {
    this.daemon = new DaemonModel(world.scenario.policy, {
      next: () => (this.#fetched === this.#submitted.length ? undefined : this.#submitted[this.#fetched++]),
      poll: (collective) => {
        const outcome = world.tryStep(collective, gpu);
        if (outcome === "completed") this.#completed += 1;
        return outcome;
      },
    });
  }

  get isFinished(): boolean {
    return this.#next === this.sequence.length && this.#completed === this.#submitted.length && !this.#isSynchronizing;
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
    const action = this.sequence[this.#next];
    if (action !== undefined) {
      this.#next += 1;
      this.world.lastChange = this.world.clock;
      if (action === SYNCHRONIZATION) this.#isSynchronizing = this.daemon.isResident;
      else this.#submitted.push(action);
    }
    // Started at a submission, and whenever completions are fewer than submissions; not while the device synchronizes.
    const isNeeded = !this.#isSynchronizing && this.#completed < this.#submitted.length;
    if (isNeeded && !this.daemon.isResident) this.daemon.start(this.world.clock);
  }
}
