import { bytesOf, checkInteger, checkPowerOfTwo } from "./errors.js";
import { submissionRingLayout as layout, wordAt } from "./layout.js";
import { capacityIn, requireMemory } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";
import { ENTRY_WORDS, sequenceBits } from "./sqe.js";

const HEAD = wordAt(layout.head);
const TAIL = wordAt(layout.tail);
const LOCK = wordAt(layout.producerLock);
const CAPACITY = wordAt(layout.capacity);
const ENTRIES = wordAt(layout.entries);

/** The default submission queue: many producers, one leader. A plain handle; the roles do the work. */
export interface SubmissionRing {
  readonly words: SharedWords;
  readonly capacity: number;
}

export const submissionRingWords = { head: HEAD, tail: TAIL, lock: LOCK } as const;

/** Word index of the entry at `position`. */
export function entryIndex(capacity: number, position: number): number {
  return ENTRIES + (position & (capacity - 1)) * ENTRY_WORDS;
}

/** Bytes that a ring of `capacity` entries takes. */
export function submissionRingBytes(capacity: number): number {
  return bytesOf("capacity", capacity, layout.entries, layout.entryBytes);
}

/**
 * Makes an empty ring before anyone else sees the memory.
 * @param capacity - entries, a power of two up to 32768.
 * @param firstPosition - for tests of the wraps.
 * @throws {QueueMisuseError} for another capacity.
 */
export function createSubmissionRing(words: SharedWords, capacity: number, firstPosition = 0): SubmissionRing {
  checkPowerOfTwo("capacity", capacity, 1, layout.maxCapacity);
  checkInteger("firstPosition", firstPosition, 0, Number.MAX_SAFE_INTEGER);
  requireMemory(words, submissionRingBytes(capacity));
  // The sequences of the lap before: zeroed memory would pass for position 65535, whose sequence is 0.
  for (let i = 0; i < capacity; i++) {
    const position = firstPosition + i;
    const at = entryIndex(capacity, position);
    for (let word = 1; word < ENTRY_WORDS; word += 2) words.plainStore(at + word, sequenceBits(position - capacity));
  }
  words.store(CAPACITY, capacity);
  words.store(LOCK, 0);
  words.store(wordAt(layout.needStart), 0);
  words.store(wordAt(layout.waiters), 0);
  words.store64(HEAD, BigInt(firstPosition));
  words.store64(TAIL, BigInt(firstPosition));
  return { words, capacity };
}

/** A ring that somebody else (perhaps native code) made in this memory. */
export function attachSubmissionRing(words: SharedWords): SubmissionRing {
  return { words, capacity: capacityIn(words, CAPACITY, 1, layout.maxCapacity) };
}
