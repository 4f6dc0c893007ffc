import { ownedSlotsLayout, SQE_AFTER_CONTROL, submissionRingLayout, wordAt } from "@dfccl/queues";
import { rankCounterNames } from "./counters.js";
import type { NativeQueueMemory } from "./native-addon/native-world.js";

const TAIL = wordAt(submissionRingLayout.tail);
const HEAD = wordAt(submissionRingLayout.head);
const LOCK = wordAt(submissionRingLayout.producerLock);
const CAPACITY = wordAt(submissionRingLayout.capacity);
const WAITERS = wordAt(submissionRingLayout.waiters);
const ENTRIES = wordAt(submissionRingLayout.entries);
const ENTRY_WORDS = wordAt(submissionRingLayout.entryBytes);
const FREED = wordAt(ownedSlotsLayout.freed);
const SLOT_COUNT = wordAt(ownedSlotsLayout.slotCount);
const CLAIMED = wordAt(ownedSlotsLayout.claimed);
const USED = wordAt(ownedSlotsLayout.used);
const SLOTS = wordAt(ownedSlotsLayout.slots);
/** Requests that the host has made of the daemon, aborts, and that the daemon has heard: two counters of 64 bits. */
export const controlRingLayout = { tail: 0, head: 8 } as const;
const ASKED = wordAt(controlRingLayout.tail);
const HEARD = wordAt(controlRingLayout.head);
const COMPLETIONS_POSTED = wordAt(8 * rankCounterNames.indexOf("completionsPosted"));

/** Names this producer in the lock; native threads use other numbers. */
const OWNER = 2;
const TWO_TO_32 = 2 ** 32;

export const cqeCompleted = 1;
export const cqeMismatched = 3;

/**
 * One rank's submission ring and completion slots, written and read without a call into the engine. They are the queues of
 * `@dfccl/queues` with its roles merged and made for batches: many entries for one claim and one publication, and plain
 * stores below it, because the engine's leader on a CPU goes by the tail. Measured (bench/queue-roles.bench.ts): a tenth of
 * what the roles cost an entry, which also serve readers that poll the words. A GPU is such a reader: there, the half of a
 * word that carries the sequence is stored atomically, after the other.
 */
export class RankQueues {
  /** All of them. */
  readonly completionSlots: number;
  /** Whether a run may have a slot beyond those that all ids share, if none of its id has one. */
  readonly ownPlaces: boolean;
  private readonly sharedSlots: number;
  private readonly sq: Int32Array;
  private readonly cq: Int32Array;
  private readonly posted: Int32Array | undefined;
  private readonly control: Int32Array;
  private readonly sleepers: Int32Array;
  private readonly entryMask: number;
  private readonly slotMask: number;
  private readonly freeList: number;
  // While the lock is held: the flags of the entries, the position to be written next and the next claims, of free slots
  // and of unused ones.
  private flags = 0;
  private position = 0;
  private claimed = 0;
  private used = 0;
  private freed: number;
  private delivered = 0;
  // Low halves of the entry that is being written; words 1 and 6 are always 0.
  private readonly lows = new Float64Array(8);

  constructor(memory: NativeQueueMemory) {
    this.sq = new Int32Array(memory.submissions);
    this.cq = new Int32Array(memory.completions);
    this.posted = memory.counters && new Int32Array(memory.counters).subarray(COMPLETIONS_POSTED, COMPLETIONS_POSTED + 1);
    this.control = new Int32Array(memory.control);
    this.sleepers = new Int32Array(memory.sleepers);
    this.entryMask = Atomics.load(this.sq, CAPACITY) - 1;
    this.completionSlots = Atomics.load(this.cq, SLOT_COUNT);
    this.slotMask = this.completionSlots - 1;
    this.ownPlaces = memory.ownPlaces;
    this.sharedSlots = memory.sharedSlots;
    this.freeList = SLOTS + 2 * this.completionSlots;
    this.freed = Atomics.load(this.cq, FREED);
  }

  /** Takes the producers' lock. Write as many entries as there is room for, then publish, with no user code between. */
  begin(): void {
    const { sq, cq } = this;
    while (Atomics.compareExchange(sq, LOCK, 0, OWNER) !== 0) {
      // A native thread is publishing: some nanoseconds.
    }
    this.flags = this.flagsOfEntries();
    this.position = Atomics.load(sq, TAIL);
    this.claimed = Atomics.load(cq, CLAIMED);
    this.used = Atomics.load(cq, USED);
  }

  /**
   * A daemon that looks for requests less often than for entries must not begin a run whose id was aborted before. There
   * are never so many unheard that the low halves would be the same. Plain loads: whoever knows that the abort came before
   * sees it through what told him, the lock at the latest.
   */
  private flagsOfEntries(): number {
    const { control } = this;
    return control[ASKED] === control[HEARD] ? 0 : SQE_AFTER_CONTROL;
  }

  /** How many of `wanted` runs could be written now in slots that all ids share. */
  room(wanted: number): number {
    return Math.min(wanted, this.freeEntries(), this.freeSharedSlots());
  }

  freeEntries(): number {
    const { sq } = this;
    return this.entryMask + 1 - ((Atomics.load(sq, TAIL) - Atomics.load(sq, HEAD)) | 0);
  }

  /** Slots that all ids share; as many as were claimed beyond them lack. */
  freeSharedSlots(): number {
    const { cq } = this;
    return Math.max(0, ((this.freed - Atomics.load(cq, CLAIMED)) | 0) + this.sharedSlots - Atomics.load(cq, USED));
  }

  /**
   * Claims a completion slot and writes the next entry. Addresses are Numbers below 2^48.
   * @param windows - on GPUs: of the send buffer, plus 2^16 times that of the receive buffer.
   * @param count - on CPUs: of a run that brings its own, else 0; below 2^48.
   * @returns the slot.
   */
  write(handle: number, send: number, recv: number, windows: number, count: number): number {
    const { sq, position } = this;
    const slot = this.claim();
    this.position = (position + 1) | 0;
    const at = ENTRIES + (position & this.entryMask) * ENTRY_WORDS;
    const sequence = (position + 1) << 16;
    if (this.posted === undefined) {
      this.writeForDevice(at, position, sequence, handle, slot, send, recv, windows);
      return slot;
    }
    sq[at] = handle;
    sq[at + 1] = sequence | this.flags;
    sq[at + 2] = 0;
    sq[at + 3] = sequence;
    sq[at + 4] = slot;
    sq[at + 5] = sequence;
    sq[at + 6] = send;
    sq[at + 7] = sequence | (send / TWO_TO_32);
    sq[at + 8] = recv;
    sq[at + 9] = sequence | (recv / TWO_TO_32);
    sq[at + 10] = position;
    sq[at + 11] = sequence;
    sq[at + 12] = count;
    sq[at + 13] = sequence | (count / TWO_TO_32);
    sq[at + 14] = 0;
    sq[at + 15] = sequence;
    return slot;
  }

  private writeForDevice(
    at: number,
    position: number,
    sequence: number,
    handle: number,
    slot: number,
    send: number,
    recv: number,
    windows: number,
  ): void {
    const { sq } = this;
    const lows = this.lows;
    lows[0] = handle;
    lows[2] = slot;
    lows[3] = send;
    lows[4] = recv;
    lows[5] = position;
    lows[7] = (windows % 0x10000) * 0x10000;
    for (let word = 0; word < 8; word += 1) sq[at + 2 * word] = lows[word] ?? 0;
    for (let word = 0; word < 8; word += 1) {
      const high =
        word === 0 ? this.flags : word === 3 ? send / TWO_TO_32 : word === 4 ? recv / TWO_TO_32 : word === 7 ? windows / 0x10000 : 0;
      Atomics.store(sq, at + 2 * word + 1, sequence | high);
    }
  }

  /** The slot that was given back first, else one that nobody has used. */
  private claim(): number {
    if (this.claimed === this.freed) {
      this.used += 1;
      return this.used - 1;
    }
    const slot = this.cq[this.freeList + (this.claimed & this.slotMask)] ?? 0;
    this.claimed = (this.claimed + 1) | 0;
    return slot;
  }

  /** Shows what was written to the engine and gives the lock back. */
  publish(): void {
    const { sq, cq, position } = this;
    cq[CLAIMED] = this.claimed;
    cq[USED] = this.used;
    const before = sq[TAIL] ?? 0;
    if (position !== before) {
      // The counter has 64 bits. Its high half moves once in 2^32 entries, before the low one wraps into view.
      if (position >>> 0 < before >>> 0) Atomics.add(sq, TAIL + 1, 1);
      Atomics.store(sq, TAIL, position);
    }
    Atomics.store(sq, LOCK, 0);
  }

  /** Whether engine threads sleep, so that somebody has to ring. */
  hasSleepers(): boolean {
    return Atomics.load(this.sleepers, 0) !== 0;
  }

  /** Completions that were posted and not freed yet. */
  undelivered(): number {
    if (this.posted !== undefined) return (Atomics.load(this.posted, 0) - this.delivered) | 0;
    // A GPU counts in its own memory; its completions lie in the slots.
    let count = 0;
    for (let slot = 0; slot < this.used; slot += 1) if (this.statusOf(slot) !== 0) count += 1;
    return count;
  }

  /** What was posted for a claimed slot: 0 while nothing was, else the status. */
  statusOf(slot: number): number {
    return Atomics.load(this.cq, SLOTS + 2 * slot + 1) & 0xffff;
  }

  /** Gives a slot back once its completion was seen. Others see it after {@link publishFreed}. */
  freeSlot(slot: number): void {
    const { cq } = this;
    const word = SLOTS + 2 * slot;
    cq[word] = 0;
    cq[word + 1] = 0;
    cq[this.freeList + (this.freed & this.slotMask)] = slot;
    this.freed = (this.freed + 1) | 0;
    this.delivered = (this.delivered + 1) | 0;
  }

  publishFreed(): void {
    Atomics.store(this.cq, FREED, this.freed);
  }

  /** Asks for (1) or declines (0) a wake-up at the next completion. Look at undelivered() once more after asking. */
  setNeedsWake(on: 0 | 1): void {
    Atomics.store(this.sq, WAITERS, on);
  }
}
