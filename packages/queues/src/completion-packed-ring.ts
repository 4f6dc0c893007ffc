import { type Completion, checkCompletion, completionOf, highWord, lowWord, NO_COMPLETION_SLOT } from "./completion.js";
import type { CompletionClaimer, CompletionGuarantees, CompletionPoller, CompletionProducer, CompletionQueue } from "./completion-roles.js";
import { bytesOf, checkPowerOfTwo } from "./errors.js";
import { packedRingLayout as layout, wordAt } from "./layout.js";
import { DONE, FULL, type Outcome } from "./outcome.js";
import { readPosition, readPositionNear, writePosition } from "./positions.js";
import { capacityIn, requireMemory } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";

const RESERVED = wordAt(layout.reserved);
const CAPACITY = wordAt(layout.capacity);
const HEAD = wordAt(layout.head);
const ENTRIES = wordAt(layout.entries);
const LAP_SHIFT = layout.lapShift - 32; // within the high word, above the two bits that a status has
const LAP_MASK = 0x3fff << LAP_SHIFT;

export const packedRingGuarantees: CompletionGuarantees = {
  needsHostAtomics: true,
  operationsPerPost: 4,
  ordered: true,
  needsClaim: false,
};

/** The lap of a position as it stands in an entry's high word. */
function lapBits(position: number, capacity: number): number {
  return (((Math.floor(position / capacity) + 1) & 0x3fff) << LAP_SHIFT) & LAP_MASK;
}

export function packedRingBytes(capacity: number): number {
  return bytesOf("capacity", capacity, layout.entries, 8);
}

export function createPackedRing(words: SharedWords, capacity: number, firstPosition: number): CompletionQueue {
  checkPowerOfTwo("capacity", capacity, 1, 2 ** 28);
  requireMemory(words, packedRingBytes(capacity));
  for (let i = 0; i < capacity; i++) {
    const position = firstPosition + i;
    const at = ENTRIES + (position & (capacity - 1)) * 2;
    words.plainStore(at, 0);
    words.plainStore(at + 1, lapBits(position - capacity, capacity));
  }
  words.store(CAPACITY, capacity);
  words.store64(HEAD, BigInt(firstPosition));
  words.store64(RESERVED, BigInt(firstPosition));
  return new PackedRing(words, capacity);
}

export function attachPackedRing(words: SharedWords): CompletionQueue {
  return new PackedRing(words, capacityIn(words, CAPACITY, 1, 2 ** 28));
}

/**
 * A ring whose entry says itself that it is there: completion and lap are one 64-bit word, so there is no tail to publish.
 * A producer that dies between reserving and storing holds up what was posted after it, and overwrites nothing.
 */
class PackedRing implements CompletionQueue {
  readonly name = "packed-ring";
  readonly guarantees = packedRingGuarantees;

  constructor(
    readonly words: SharedWords,
    readonly capacity: number,
  ) {}

  claimer(): CompletionClaimer {
    return { tryClaim: () => NO_COMPLETION_SLOT };
  }
  producer(): CompletionProducer {
    return new PackedProducer(this.words, this.capacity);
  }
  poller(): CompletionPoller {
    return new PackedPoller(this.words, this.capacity);
  }
}

class PackedProducer implements CompletionProducer {
  readonly #words: SharedWords;
  readonly #capacity: number;

  constructor(words: SharedWords, capacity: number) {
    this.#words = words;
    this.#capacity = capacity;
  }

  /** Turns only while other producers get ahead of it. */
  post(_slot: number, completion: Completion): Outcome<"full"> {
    checkCompletion(completion);
    const words = this.#words;
    let reserved = words.load64(RESERVED);
    for (;;) {
      const position = Number(reserved);
      // The head may be newer than `reserved`; then the difference is negative and the exchange fails.
      if (position - readPositionNear(words, HEAD, position) >= this.#capacity) return FULL;
      const seen = words.compareExchange64(RESERVED, reserved, reserved + 1n);
      if (seen === reserved) {
        const at = ENTRIES + (position & (this.#capacity - 1)) * 2;
        // The half without the lap first: an entry is there only when both are.
        words.plainStore(at, lowWord(completion));
        words.store(at + 1, (highWord(completion) & ~LAP_MASK) | lapBits(position, this.#capacity));
        return DONE;
      }
      reserved = seen;
    }
  }
}

class PackedPoller implements CompletionPoller {
  readonly #words: SharedWords;
  readonly #capacity: number;
  #head: number;

  constructor(words: SharedWords, capacity: number) {
    this.#words = words;
    this.#capacity = capacity;
    this.#head = readPosition(words, HEAD);
  }

  poll(): Completion | undefined {
    const words = this.#words;
    const at = ENTRIES + (this.#head & (this.#capacity - 1)) * 2;
    const high = words.load(at + 1);
    if ((high & LAP_MASK) !== lapBits(this.#head, this.#capacity)) return undefined;
    const completion = completionOf(words.plainLoad(at), high & ~LAP_MASK);
    writePosition(words, HEAD, this.#head, this.#head + 1);
    this.#head++;
    return completion;
  }
}
