import { type Completion, checkCompletion, completionOf, highWord, lowWord, NO_COMPLETION_SLOT } from "./completion.js";
import type { CompletionClaimer, CompletionGuarantees, CompletionPoller, CompletionProducer, CompletionQueue } from "./completion-roles.js";
import { bytesOf, checkPowerOfTwo } from "./errors.js";
import { casSlotsLayout as layout, wordAt } from "./layout.js";
import { DONE, FULL, type Outcome } from "./outcome.js";
import { capacityIn, requireMemory } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";

const SLOT_COUNT = wordAt(layout.slotCount);
const SLOTS = wordAt(layout.slots);

export const casSlotsGuarantees: CompletionGuarantees = {
  needsHostAtomics: true,
  operationsPerPost: 1,
  ordered: false,
  needsClaim: false,
};

export function casSlotsBytes(slotCount: number): number {
  return bytesOf("slotCount", slotCount, layout.slots, 8);
}

export function createCasSlots(words: SharedWords, slotCount: number): CompletionQueue {
  checkPowerOfTwo("capacity", slotCount, 1, 2 ** 28);
  requireMemory(words, casSlotsBytes(slotCount));
  words.store(SLOT_COUNT, slotCount);
  for (let slot = 0; slot < slotCount; slot++) words.store64(SLOTS + slot * 2, 0n);
  return new CasSlots(words, slotCount);
}

export function attachCasSlots(words: SharedWords): CompletionQueue {
  return new CasSlots(words, capacityIn(words, SLOT_COUNT, 1, 2 ** 28));
}

/** No ring: a producer swaps its completion into any slot that is 0, the poller looks at all of them and writes 0 back. */
class CasSlots implements CompletionQueue {
  readonly name = "cas-slots";
  readonly guarantees = casSlotsGuarantees;

  constructor(
    readonly words: SharedWords,
    readonly slotCount: number,
  ) {}

  claimer(): CompletionClaimer {
    return { tryClaim: () => NO_COMPLETION_SLOT };
  }
  producer(): CompletionProducer {
    return new CasProducer(this.words, this.slotCount);
  }
  poller(): CompletionPoller {
    return new CasPoller(this.words, this.slotCount);
  }
}

class CasProducer implements CompletionProducer {
  readonly #words: SharedWords;
  readonly #slotCount: number;

  constructor(words: SharedWords, slotCount: number) {
    this.#words = words;
    this.#slotCount = slotCount;
  }

  post(_slot: number, completion: Completion): Outcome<"full"> {
    checkCompletion(completion);
    const cqe = (BigInt(highWord(completion) >>> 0) << 32n) | BigInt(lowWord(completion) >>> 0);
    // Producers start apart, by collective, so that they seldom try the same slot.
    const first = Math.imul(completion.id, 2654435769) >>> 7;
    for (let i = 0; i < this.#slotCount; i++) {
      const at = SLOTS + ((first + i) & (this.#slotCount - 1)) * 2;
      if (this.#words.compareExchange64(at, 0n, cqe) === 0n) return DONE;
    }
    return FULL;
  }
}

class CasPoller implements CompletionPoller {
  readonly #words: SharedWords;
  readonly #slotCount: number;
  #cursor = 0;

  constructor(words: SharedWords, slotCount: number) {
    this.#words = words;
    this.#slotCount = slotCount;
  }

  poll(): Completion | undefined {
    const words = this.#words;
    for (let i = 0; i < this.#slotCount; i++) {
      const at = SLOTS + this.#cursor * 2;
      this.#cursor = (this.#cursor + 1) & (this.#slotCount - 1);
      const high = words.load(at + 1);
      if (high === 0) continue;
      const completion = completionOf(words.plainLoad(at), high);
      words.plainStore(at, 0);
      words.store(at + 1, 0); // last: a producer's exchange succeeds only when both halves are 0
      return completion;
    }
    return undefined;
  }
}
