import { checkInteger, checkList, QueueMisuseError } from "./errors.js";
import { BUSY, DONE, FULL, type Outcome } from "./outcome.js";
import { readPosition, readPositionNear, readSettledPosition, writePosition } from "./positions.js";
import { requireQueue } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";
import { checkSqe, ENTRY_WORDS, hasSequence, type Sqe, sequenceBits, VOID_ENTRY, writeEntry } from "./sqe.js";
import { entryIndex, submissionRingWords as index, type SubmissionRing } from "./submission-ring.js";

/** A caller's entries, as they were when each was looked at. @throws {QueueMisuseError} before any is written. */
function checked(entries: readonly Sqe[]): readonly Sqe[] {
  checkList("entries", entries);
  try {
    return Array.from(entries, (sqe) => {
      checkSqe(sqe);
      return { ...sqe };
    });
  } catch (cause) {
    if (cause instanceof QueueMisuseError) throw cause;
    throw new QueueMisuseError("entries can't be read.", {}, "Give a list of entries.", cause);
  }
}

/** One of several producers of a submission ring; one object a thread. Nothing here waits. */
export class SubmissionProducer {
  readonly #words: SharedWords;
  readonly #capacity: number;
  readonly #owner: number;
  #head: number; // no newer than the leader's
  #tail: number; // ours while we hold the lock

  /**
   * @param owner - 1 to 2^31 - 1 and this producer's alone, so that {@link takeOver} can name it.
   * @throws {QueueMisuseError} for another owner number.
   */
  constructor(ring: SubmissionRing, owner: number) {
    requireQueue(ring, "capacity");
    checkInteger("owner", owner, 1, 2 ** 31 - 1);
    this.#words = ring.words;
    this.#capacity = ring.capacity;
    this.#owner = owner;
    this.#head = readPosition(ring.words, index.head);
    this.#tail = this.#head;
  }

  /**
   * Takes the lock and room for `count` entries. After `ok`, write every entry and publish, with no user code between.
   * @returns `full`: no room for all of them; `busy`: another producer is at work. Both leave the ring as it was.
   */
  tryReserve(count: number): Outcome<"full" | "busy"> {
    checkInteger("count", count, 0, Number.MAX_SAFE_INTEGER);
    const words = this.#words;
    if (words.compareExchange(index.lock, 0, this.#owner) !== 0) return BUSY;
    this.#tail = readSettledPosition(words, index.tail);
    if (this.#tail + count - this.#head > this.#capacity) {
      this.#head = readPositionNear(words, index.head, this.#tail);
      if (this.#tail + count - this.#head > this.#capacity) {
        words.store(index.lock, 0);
        return FULL;
      }
    }
    return DONE;
  }

  /** Position of the first reserved entry. */
  get position(): number {
    return this.#tail;
  }

  /** Fills the reserved entry number `offset`; in order, 0 first. A reader that goes by the words may take it at once. */
  write(offset: number, sqe: Sqe): void {
    checkInteger("offset", offset, 0, this.#capacity - 1);
    checkSqe(sqe);
    const position = this.#tail + offset;
    writeEntry(this.#words, entryIndex(this.#capacity, position), position, sqe);
  }

  /** Publishes the first `count` entries, which must be all that were written, and gives the lock back. */
  publish(count: number): void {
    checkInteger("count", count, 0, this.#capacity);
    const from = this.#tail;
    this.#tail = from + count;
    writePosition(this.#words, index.tail, from, this.#tail);
    this.#words.store(index.lock, 0);
  }

  /** Reserves, writes and publishes all of the entries or none. */
  submit(entries: readonly Sqe[]): Outcome<"full" | "busy"> {
    const given = checked(entries);
    const reserved = this.tryReserve(given.length);
    if (!reserved.ok) return reserved;
    let offset = 0;
    for (const sqe of given) this.write(offset++, sqe);
    this.publish(offset);
    return DONE;
  }

  /**
   * Frees the lock of a producer that died holding it (a terminated worker). Its complete entries are published, because a
   * reader that goes by the words may already have taken them. A half-written one is finished as void: were it written
   * anew, such a reader could see words of both. It died before the last word, so that word alone decides.
   * @param owner - of the dead producer, which must never run again.
   * @returns false if that producer does not hold the lock.
   */
  takeOver(owner: number): boolean {
    checkInteger("owner", owner, 1, 2 ** 31 - 1);
    if (this.#words.compareExchange(index.lock, owner, this.#owner) !== owner) return false;
    this.#tail = readSettledPosition(this.#words, index.tail);
    let count = 0;
    while (this.#writtenWords(this.#tail + count) === ENTRY_WORDS / 2) count++;
    if (this.#writtenWords(this.#tail + count) !== 0) {
      this.#finishAsVoid(this.#tail + count);
      count++;
    }
    this.publish(count);
    return true;
  }

  #writtenWords(position: number): number {
    const at = entryIndex(this.#capacity, position);
    let written = 0;
    for (let word = 1; word < ENTRY_WORDS; word += 2) {
      if (hasSequence(this.#words.load(at + word), position)) written++;
    }
    return written;
  }

  #finishAsVoid(position: number): void {
    const at = entryIndex(this.#capacity, position);
    const last = ENTRY_WORDS - 2;
    for (let word = 0; word < last; word += 2) {
      if (hasSequence(this.#words.load(at + word + 1), position)) continue;
      this.#words.plainStore(at + word, 0);
      this.#words.store(at + word + 1, sequenceBits(position));
    }
    this.#words.plainStore(at + last, VOID_ENTRY);
    this.#words.store(at + last + 1, sequenceBits(position));
  }
}
