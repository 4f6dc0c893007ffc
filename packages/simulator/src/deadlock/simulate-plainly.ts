import type { DeadlockConfig } from "./config.js";
import { type Odds, oddsOf, RoundEvents } from "./events.js";
import { type ComponentClass, componentsOf } from "./grouping.js";
import { RandomStream } from "./random-stream.js";
import { sequencesOf } from "./sequences.js";
import { type Detection, Sweep } from "./sweep.js";

/** Rounds of the synchronization model with every action simulated: see {@link Sweep}. Slow. */
export class PlainSimulator {
  readonly #classes: readonly ComponentClass[];
  readonly #sweeps: readonly Sweep[];
  readonly #odds: Odds;
  readonly #events = new RoundEvents();
  readonly #random = new RandomStream();
  readonly #repeats = new RandomStream();

  constructor(
    config: DeadlockConfig,
    readonly seed: number,
  ) {
    this.#classes = componentsOf(config);
    this.#sweeps = this.#classes.map(({ component }) => new Sweep(component));
    this.#odds = oddsOf(config.disorderProbability, config.synchronizationProbability);
  }

  /** Whether a round, with the event sequences that RoundSimulator has for it, is said to deadlock. */
  deadlocks(round: number, detection: Detection): boolean {
    return this.#classes.some(({ component, firstGpus, firstPart }, index) =>
      firstGpus.some((_, copy) => {
        const part = firstPart + copy;
        this.#events.draw(component, this.#odds, this.#random.seed(this.seed, round, part));
        const repeat = { random: this.#repeats.seed(~this.seed, round, part), probability: this.#odds.synchronization };
        const sequences = sequencesOf(component, this.#events, repeat);
        return this.#sweeps[index]?.deadlocks(sequences, detection) ?? false;
      }),
    );
  }
}
