import { bytesOf, checkInteger } from "./errors.js";
import { paddedWordLayout as layout, wordAt } from "./layout.js";
import { requireMemory } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";

const WORDS_EACH = wordAt(layout.bytes);

const CONTROL = 0;

/** Bytes of the control word and a word for each worker, a cache line apart. */
export function paddedWaveBytes(workerCount: number): number {
  return bytesOf("workerCount", workerCount, layout.bytes, layout.bytes);
}

function finishedIndex(worker: number): number {
  return (1 + worker) * WORDS_EACH;
}

/** A wave whose workers each have a word of their own: no contention on one line, N lines to look at. */
export class PaddedWaveCaller {
  readonly #words: SharedWords;
  readonly #workerCount: number;
  #round: number;
  #collected = 0;

  /** @pre The wave is new (zeroed words), or its last round was collected. */
  constructor(words: SharedWords, workerCount: number) {
    checkInteger("workerCount", workerCount, 1, 2 ** 16);
    requireMemory(words, paddedWaveBytes(workerCount));
    this.#words = words;
    this.#workerCount = workerCount;
    this.#round = words.load(CONTROL);
  }

  /** Starts a round. @pre The last one was collected. */
  start(): void {
    this.#round ^= 1;
    this.#collected = 0;
    this.#words.store(CONTROL, this.#round);
  }

  /** True once every worker has finished this round. */
  isCollected(): boolean {
    while (this.#collected < this.#workerCount && this.#words.load(finishedIndex(this.#collected)) === this.#round) this.#collected++;
    return this.#collected === this.#workerCount;
  }
}

export class PaddedWaveWorker {
  readonly #words: SharedWords;
  readonly #finished: number;
  #target: number;

  /** @param worker - number of this worker, from 0. @param control - see WaveWorker. */
  constructor(words: SharedWords, worker: number, control = 0) {
    checkInteger("worker", worker, 0, 2 ** 16 - 1);
    requireMemory(words, paddedWaveBytes(worker + 1));
    this.#words = words;
    this.#finished = finishedIndex(worker);
    this.#target = control ^ 1;
  }

  /** True once a round has started that this worker has not finished. */
  isStarted(): boolean {
    return this.#words.load(CONTROL) === this.#target;
  }

  /** @pre `isStarted`; the work is done. */
  finish(): void {
    this.#words.store(this.#finished, this.#target);
    this.#target ^= 1;
  }
}
