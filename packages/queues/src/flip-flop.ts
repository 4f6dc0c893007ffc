import { checkFunction, checkInteger } from "./errors.js";
import { flipFlopLayout as layout, wordAt } from "./layout.js";
import { requireMemory } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";

const VALUE = wordAt(layout.value);

export const flipFlopBytes = layout.bytes;

/**
 * N workers hand values to one trainer through a single 64-bit word: 0 is empty, anything else is loaded. It merges the
 * workers' streams into one, paces them to the trainer, and holds the trainer while there is nothing.
 * @see U. Finkler, "Rings and Things"
 */
export class FlipFlop {
  readonly #words: SharedWords;

  /** @param words - zeroed when the first participant comes. */
  constructor(words: SharedWords) {
    requireMemory(words, flipFlopBytes);
    this.#words = words;
  }

  /** A worker's end; any number of them. @param value - 1 to 2^53 - 1. @returns false: still loaded. */
  tryAdd(value: number): boolean {
    checkInteger("value", value, 1, Number.MAX_SAFE_INTEGER);
    return this.#words.compareExchange64(VALUE, 0n, BigInt(value)) === 0n;
  }

  /** The trainer's end; one at a time. @returns 0 if it is empty. */
  tryGet(): number {
    // Looking first keeps the line shared while there is nothing, and leaves the workers' exchanges alone.
    if (this.#words.load64(VALUE) === 0n) return 0;
    return Number(this.#words.exchange64(VALUE, 0n));
  }

  /**
   * Waits for a value. @param pause - called after each miss; the slides sleep 10 µs there, which leaves core and word to
   * the workers.
   */
  get(pause: () => void): number {
    checkFunction("pause", pause);
    for (;;) {
      const value = this.tryGet();
      if (value !== 0) return value;
      pause();
    }
  }
}
