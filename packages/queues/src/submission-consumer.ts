import { readPosition, readPositionNear, writePosition } from "./positions.js";
import { requireQueue } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";
import { ENTRY_WORDS, hasSequence, readEntry, type Sqe, VOID_ENTRY } from "./sqe.js";
import { entryIndex, submissionRingWords as index, type SubmissionRing } from "./submission-ring.js";

/**
 * How the leader learns that an entry is there: it reads the tail (a reader on the same CPU), or it polls the words of the
 * entry itself and takes it when all of them carry the sequence it expects (what a GPU does across the bus).
 */
export type ReadMode = "tail" | "words";

/** The leader's end of a submission ring. One at a time; it starts where the last one released. */
export class SubmissionConsumer {
  readonly #words: SharedWords;
  readonly #capacity: number;
  readonly #mode: ReadMode;
  #position: number;
  #released: number;
  #tail: number; // no newer than the producers'

  constructor(ring: SubmissionRing, mode: ReadMode = "tail") {
    requireQueue(ring, "capacity");
    this.#words = ring.words;
    this.#capacity = ring.capacity;
    this.#mode = mode;
    this.#position = readPosition(ring.words, index.head);
    this.#released = this.#position;
    this.#tail = this.#position;
  }

  /** Reads the entry at {@link position} and leaves it there. @returns `undefined`: none yet. */
  peek(): Sqe | undefined {
    while (this.#isThere()) {
      const at = entryIndex(this.#capacity, this.#position);
      if (this.#words.plainLoad(at + ENTRY_WORDS - 2) !== VOID_ENTRY) return readEntry(this.#words, at);
      this.#position++; // a dead producer's
    }
    return undefined;
  }

  /** Steps over the entry that `peek` showed. Its slot stays taken until {@link release}. */
  pop(): void {
    this.#position++;
  }

  /**
   * Gives the slots of all popped entries back to the producers. Call it at the end of every round of reading, also of one
   * that found nothing: `peek` may have stepped over a void entry.
   */
  release(): void {
    if (this.#released === this.#position) return;
    writePosition(this.#words, index.head, this.#released, this.#position);
    this.#released = this.#position;
  }

  /** `peek`, `pop` and `release` at once. */
  take(): Sqe | undefined {
    const sqe = this.peek();
    if (sqe !== undefined) this.pop();
    this.release();
    return sqe;
  }

  /** Position of the entry that the last `peek` showed, if it showed one and it was not popped. */
  get position(): number {
    return this.#position;
  }

  #isThere(): boolean {
    if (this.#mode === "words") return this.#isWhole();
    if (this.#position !== this.#tail) return true;
    this.#tail = readPositionNear(this.#words, index.tail, this.#position);
    return this.#position !== this.#tail;
  }

  #isWhole(): boolean {
    const at = entryIndex(this.#capacity, this.#position);
    for (let word = ENTRY_WORDS - 1; word > 0; word -= 2) {
      if (!hasSequence(this.#words.load(at + word), this.#position)) return false;
    }
    return true;
  }
}
