import { checkPowerOfTwo } from "./errors.js";

/** Where a trainer's values come from: a FlipFlop, as a rule. */
export interface ValueSource {
  /** @returns 0 if it has none. */
  tryGet(): number;
}

/**
 * "Take two": the buffer moves from the workers into the trainer, where a hanging worker can't lock it up. More than S/2
 * held: look at the source once, then use the ring; at most S/2: look twice, so that it grows by one. Where the workers
 * keep up it hovers at S/2, and a stall of S/2 batches is absorbed.
 *
 * The slides let the trainer wait for a first value whenever at most S/2 are held. It would then feel every stall at once,
 * with S/2 values in its hands; here it waits only when it has nothing.
 */
export class TrainerRing {
  readonly #source: ValueSource;
  readonly #values: Float64Array;
  readonly #capacity: number;
  #head = 0;
  #size = 0;

  /** @param capacity - S, a power of two, at least 4. */
  constructor(source: ValueSource, capacity: number) {
    checkPowerOfTwo("capacity", capacity, 4, 2 ** 24);
    this.#source = source;
    this.#capacity = capacity;
    this.#values = new Float64Array(capacity);
  }

  /** The oldest value. @returns 0: nothing is held and the source is empty; the caller waits as it likes. */
  next(): number {
    const isLow = this.#size <= this.#capacity / 2;
    this.#fetch();
    if (isLow) this.#fetch();
    if (this.#size === 0) return 0;
    const value = this.#values[this.#head] ?? 0;
    this.#head = (this.#head + 1) & (this.#capacity - 1);
    this.#size--;
    return value;
  }

  get size(): number {
    return this.#size;
  }

  // Never overflows: next() fetches at most two at S/2 or one above, and uses one.
  #fetch(): void {
    const value = this.#source.tryGet();
    if (value !== 0) this.#values[(this.#head + this.#size++) & (this.#capacity - 1)] = value;
  }
}
