import { checkInteger } from "./errors.js";
import { waveLayout as layout, wordAt } from "./layout.js";
import { requireMemory } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";

const CONTROL = wordAt(layout.control);
const COUNTER = wordAt(layout.counter);

export const waveBytes = layout.bytes;

/**
 * Starts N workers and collects them, over and over: a control word that alternates between 0 and 1 starts a round, a counter
 * collects it. Each worker waits for the value that the control word doesn't have yet, so it is never reset in between. The
 * slides' code adds to the control word and never resets the counter; this is what their pictures of the states show.
 */
export class WaveCaller {
  readonly #words: SharedWords;
  readonly #workerCount: number;
  #control: number;

  /** @pre The wave is new (zeroed words), or its last round was collected. */
  constructor(words: SharedWords, workerCount: number) {
    checkInteger("workerCount", workerCount, 1, 2 ** 16);
    requireMemory(words, waveBytes);
    this.#words = words;
    this.#workerCount = workerCount;
    this.#control = words.load(CONTROL);
  }

  /** Starts a round. @pre The last one was collected. */
  start(): void {
    this.#words.store(COUNTER, 0);
    this.#control ^= 1;
    this.#words.store(CONTROL, this.#control);
  }

  /** True once every worker has finished this round. */
  isCollected(): boolean {
    return this.#words.load(COUNTER) === this.#workerCount;
  }
}

export class WaveWorker {
  readonly #words: SharedWords;
  #target: number;

  /**
   * @param control - the control word before the first round that this worker takes part in; 0 in a new wave. It is not read
   * here, because by now that round may have started.
   */
  constructor(words: SharedWords, control = 0) {
    requireMemory(words, waveBytes);
    this.#words = words;
    this.#target = control ^ 1;
  }

  /** True once a round has started that this worker has not finished. */
  isStarted(): boolean {
    return this.#words.load(CONTROL) === this.#target;
  }

  /** @pre `isStarted`; the work is done. */
  finish(): void {
    this.#target ^= 1;
    this.#words.add(COUNTER, 1);
  }
}
