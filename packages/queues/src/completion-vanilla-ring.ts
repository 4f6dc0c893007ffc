import { type Completion, checkCompletion, completionOf, highWord, lowWord, NO_COMPLETION_SLOT } from "./completion.js";
import type { CompletionClaimer, CompletionGuarantees, CompletionPoller, CompletionProducer, CompletionQueue } from "./completion-roles.js";
import { bytesOf, checkPowerOfTwo } from "./errors.js";
import { vanillaRingLayout as layout, wordAt } from "./layout.js";
import { BUSY, DONE, FULL, type Outcome } from "./outcome.js";
import { readPosition, readPositionNear, readSettledPosition, writePosition } from "./positions.js";
import { capacityIn, requireMemory } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";

const TAIL = wordAt(layout.tail);
const CAPACITY = wordAt(layout.capacity);
const HEAD = wordAt(layout.head);
const LOCK = wordAt(layout.lock);
const ENTRIES = wordAt(layout.entries);

export const vanillaRingGuarantees: CompletionGuarantees = {
  needsHostAtomics: true,
  operationsPerPost: 6,
  ordered: true,
  needsClaim: false,
};

export function vanillaRingBytes(capacity: number): number {
  return bytesOf("capacity", capacity, layout.entries, 8);
}

export function createVanillaRing(words: SharedWords, capacity: number, firstPosition: number): CompletionQueue {
  checkPowerOfTwo("capacity", capacity, 1, 2 ** 28);
  requireMemory(words, vanillaRingBytes(capacity));
  words.store(CAPACITY, capacity);
  words.store(LOCK, 0);
  words.store64(HEAD, BigInt(firstPosition));
  words.store64(TAIL, BigInt(firstPosition));
  return new VanillaRing(words, capacity);
}

export function attachVanillaRing(words: SharedWords): CompletionQueue {
  return new VanillaRing(words, capacityIn(words, CAPACITY, 1, 2 ** 28));
}

/** The textbook ring: producers exclude each other, fill the entry at the tail and move the tail. */
class VanillaRing implements CompletionQueue {
  readonly name = "vanilla-ring";
  readonly guarantees = vanillaRingGuarantees;

  constructor(
    readonly words: SharedWords,
    readonly capacity: number,
  ) {}

  claimer(): CompletionClaimer {
    return { tryClaim: () => NO_COMPLETION_SLOT };
  }
  producer(): CompletionProducer {
    return new VanillaProducer(this.words, this.capacity);
  }
  poller(): CompletionPoller {
    return new VanillaPoller(this.words, this.capacity);
  }
}

class VanillaProducer implements CompletionProducer {
  readonly #words: SharedWords;
  readonly #capacity: number;

  constructor(words: SharedWords, capacity: number) {
    this.#words = words;
    this.#capacity = capacity;
  }

  post(_slot: number, completion: Completion): Outcome<"full" | "busy"> {
    checkCompletion(completion);
    const words = this.#words;
    // A producer that dies inside makes the others answer "busy"; it can't damage an entry.
    if (words.compareExchange(LOCK, 0, 1) !== 0) return BUSY;
    const tail = readSettledPosition(words, TAIL);
    const hasRoom = tail - readPositionNear(words, HEAD, tail) < this.#capacity;
    if (hasRoom) {
      const at = ENTRIES + (tail & (this.#capacity - 1)) * 2;
      words.plainStore(at, lowWord(completion));
      words.plainStore(at + 1, highWord(completion));
      writePosition(words, TAIL, tail, tail + 1);
    }
    words.store(LOCK, 0);
    return hasRoom ? DONE : FULL;
  }
}

class VanillaPoller implements CompletionPoller {
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
    if (readPositionNear(words, TAIL, this.#head) === this.#head) return undefined;
    const at = ENTRIES + (this.#head & (this.#capacity - 1)) * 2;
    const completion = completionOf(words.plainLoad(at), words.plainLoad(at + 1));
    writePosition(words, HEAD, this.#head, this.#head + 1);
    this.#head++;
    return completion;
  }
}
