import { checkInteger, checkPowerOfTwo } from "./errors.js";

/** What a worker hands its values to: a FlipFlop, as a rule. */
export interface ValueSink {
  /** @returns false: not now. */
  tryAdd(value: number): boolean;
}

/**
 * A worker's own queue in front of the flip-flop: it goes on producing while the trainer is busy. Nothing in it is shared.
 * Its weakness is why TrainerRing exists: a worker that hangs in a read delivers nothing, although its queue is full.
 */
export class WorkerBuffer {
  readonly #sink: ValueSink;
  readonly #values: Float64Array;
  readonly #capacity: number;
  #head = 0;
  #size = 0;

  /** @param capacity - values, a power of two. */
  constructor(sink: ValueSink, capacity: number) {
    checkPowerOfTwo("capacity", capacity, 1, 2 ** 24);
    this.#sink = sink;
    this.#capacity = capacity;
    this.#values = new Float64Array(capacity);
  }

  /**
   * Hands over the oldest value that fits into the sink and keeps the rest, in order.
   * @returns false: sink and queue are full and `value` was not taken; try again.
   */
  push(value: number): boolean {
    checkInteger("value", value, 1, Number.MAX_SAFE_INTEGER);
    this.flush();
    if (this.#size === 0 && this.#sink.tryAdd(value)) return true;
    if (this.#size === this.#capacity) return false;
    this.#values[(this.#head + this.#size++) & (this.#capacity - 1)] = value;
    return true;
  }

  /** Hands over the oldest value if it fits. @returns true if nothing is left. */
  flush(): boolean {
    if (this.#size !== 0 && this.#sink.tryAdd(this.#values[this.#head] ?? 0)) {
      this.#head = (this.#head + 1) & (this.#capacity - 1);
      this.#size--;
    }
    return this.#size === 0;
  }

  get size(): number {
    return this.#size;
  }
}
