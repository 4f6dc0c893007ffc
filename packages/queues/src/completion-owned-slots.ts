import { type Completion, checkCompletion, highWord, lowWord } from "./completion.js";
import type { CompletionClaimer, CompletionGuarantees, CompletionPoller, CompletionProducer, CompletionQueue } from "./completion-roles.js";
import { bytesOf, checkFunction, checkInteger, checkPowerOfTwo } from "./errors.js";
import { ownedSlotsLayout as layout, wordAt } from "./layout.js";
import { DONE, type Outcome } from "./outcome.js";
import { capacityIn, requireMemory, requireQueue } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";

const FREED = wordAt(layout.freed);
const SLOT_COUNT = wordAt(layout.slotCount);
const CLAIMED = wordAt(layout.claimed);
const USED = wordAt(layout.used);
const SLOTS = wordAt(layout.slots);

export const ownedSlotsGuarantees: CompletionGuarantees = {
  needsHostAtomics: false,
  operationsPerPost: 1,
  ordered: false,
  needsClaim: true,
};

export function ownedSlotsBytes(slotCount: number): number {
  return bytesOf("slotCount", slotCount, layout.slots, 8 + 4);
}

/** @param firstClaim - the counters' first value, for tests of their wrap. */
export function createOwnedSlots(words: SharedWords, slotCount: number, firstClaim = 0): OwnedSlots {
  checkPowerOfTwo("capacity", slotCount, 8, 2 ** 28);
  requireMemory(words, ownedSlotsBytes(slotCount));
  const queue = new OwnedSlots(words, slotCount);
  for (let i = 0; i < slotCount; i++) words.store64(SLOTS + i * 2, 0n);
  words.store(SLOT_COUNT, slotCount);
  words.store(CLAIMED, firstClaim | 0);
  words.store(USED, 0);
  words.store(FREED, firstClaim | 0);
  return queue;
}

export function attachOwnedSlots(words: SharedWords): OwnedSlots {
  return new OwnedSlots(words, capacityIn(words, SLOT_COUNT, 8, 2 ** 28));
}

/**
 * The default completion queue: the submitter claims a slot, the SQE carries it, the daemon posts there with one store. A
 * slot belongs to one run from the claim until the poller frees it, whatever order completions come in. The free list is a
 * ring of the slots that were given back, with room for all; its counters have 32 bits, wrap, and are never further apart
 * than that. A slot that nobody has used yet is claimed only if the list is empty, so those in use are few and in cache.
 */
export class OwnedSlots implements CompletionQueue {
  readonly name = "owned-slots";
  readonly guarantees = ownedSlotsGuarantees;

  constructor(
    readonly words: SharedWords,
    readonly slotCount: number,
  ) {}

  freeListIndex(counter: number): number {
    checkInteger("counter", counter, -(2 ** 31), 2 ** 31 - 1);
    return SLOTS + this.slotCount * 2 + (counter & (this.slotCount - 1));
  }

  claimer(): OwnedSlotsClaimer {
    return new OwnedSlotsClaimer(this);
  }
  producer(): CompletionProducer {
    return new OwnedProducer(this);
  }
  poller(): OwnedSlotsPoller {
    return new OwnedSlotsPoller(this);
  }
}

export class OwnedSlotsClaimer implements CompletionClaimer {
  readonly #queue: OwnedSlots;

  constructor(queue: OwnedSlots) {
    requireQueue(queue, "slotCount");
    this.#queue = queue;
  }

  tryClaim(): number | undefined {
    const { words } = this.#queue;
    const claimed = words.load(CLAIMED);
    if (claimed === words.load(FREED)) return this.#tryClaimUnused();
    const slot = words.plainLoad(this.#queue.freeListIndex(claimed));
    words.store(CLAIMED, (claimed + 1) | 0);
    return slot;
  }

  /** Slots that are free now; more may become so. */
  get freeCount(): number {
    const { words, slotCount } = this.#queue;
    return ((words.load(FREED) - words.load(CLAIMED)) | 0) + slotCount - words.load(USED);
  }

  #tryClaimUnused(): number | undefined {
    const { words, slotCount } = this.#queue;
    const slot = words.load(USED);
    if (slot === slotCount) return undefined;
    words.store(USED, slot + 1);
    return slot;
  }
}

class OwnedProducer implements CompletionProducer {
  readonly #words: SharedWords;
  readonly #slotCount: number;

  constructor({ words, slotCount }: OwnedSlots) {
    this.#words = words;
    this.#slotCount = slotCount;
  }

  /** Never refused. @pre `slot` is the one that the run's SQE carried. */
  post(slot: number, completion: Completion): Outcome<never> {
    checkInteger("slot", slot, 0, this.#slotCount - 1);
    checkCompletion(completion);
    const at = SLOTS + slot * 2;
    // The half with the status last: a completion is there only when both are.
    this.#words.plainStore(at, lowWord(completion));
    this.#words.store(at + 1, highWord(completion));
    return DONE;
  }
}

export class OwnedSlotsPoller implements CompletionPoller {
  readonly #queue: OwnedSlots;
  #freed: number;
  #cursor = 0; // where the next scan begins

  constructor(queue: OwnedSlots) {
    requireQueue(queue, "slotCount");
    this.#queue = queue;
    this.#freed = queue.words.load(FREED);
  }

  poll(): Completion | undefined {
    let found: Completion | undefined;
    this.drain((slot, id, status, run) => {
      found = { id, status: status as Completion["status"], run };
      this.free(slot);
    }, 1);
    return found;
  }

  /**
   * Visits up to `limit` completions, allocating nothing. A visited slot stays claimed until {@link free}, so that what the
   * submitter keeps for each slot may still be read. A miss costs a look at every used slot while any is claimed.
   * @returns how many were visited.
   */
  drain(visit: (slot: number, id: number, status: number, run: number) => void, limit = Number.POSITIVE_INFINITY): number {
    checkFunction("visit", visit);
    if (typeof limit !== "number") checkInteger("limit", limit, 0, Number.MAX_SAFE_INTEGER);
    const { words } = this.#queue;
    const used = words.load(USED);
    // Claims, of free slots and of unused ones, less what was given back.
    if (((words.load(CLAIMED) + used) | 0) === this.#freed) return 0;
    let visited = 0;
    for (let i = 0; i < used && visited < limit; i++) {
      const slot = this.#cursor;
      const at = SLOTS + slot * 2;
      this.#cursor = slot + 1 < used ? slot + 1 : 0;
      const high = words.load(at + 1);
      if ((high & 0xffff) === 0) continue;
      const id = words.plainLoad(at) >>> 0;
      // The next run's completion comes after this: it is posted only after free() and its submission.
      words.store(at + 1, 0);
      visited++;
      visit(slot, id, high & 0xffff, high >>> 16);
    }
    return visited;
  }

  /** Gives a visited slot back to the submitters. Once for each. */
  free(slot: number): void {
    checkInteger("slot", slot, 0, this.#queue.slotCount - 1);
    const { words } = this.#queue;
    words.plainStore(this.#queue.freeListIndex(this.#freed), slot);
    this.#freed = (this.#freed + 1) | 0;
    words.store(FREED, this.#freed);
  }
}
