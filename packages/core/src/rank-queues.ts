import type { NativeQueueMemory } from "./native-addon/native-world.js";

// Byte offsets of native/include/dfccl/queues/submission_ring.hpp and completion_owned_slots.hpp.
const ring = { tail: 0, head: 64, lock: 128, capacity: 192, waiters: 260, entries: 320, entryBytes: 64 } as const;
const slots = { freed: 0, slotCount: 4, claimed: 64, words: 128 } as const;
const completionsPosted = 24;

const jsOwner = 2;

export const cqeCompleted = 1;

/**
 * One rank's queues, written and read without a call into the engine. Claiming slots and writing entries happens between
 * lock() and publish(); native threads may submit to the same rank.
 */
export class RankQueues {
  private readonly sq: Uint32Array;
  private readonly sqInts: Int32Array;
  private readonly cq: Uint32Array;
  private readonly cqInts: Int32Array;
  private readonly posted: Int32Array;
  private readonly sleepers: Int32Array;
  private readonly capacity: number;
  private readonly slotCount: number;
  private readonly freeList: number;
  private tail = 0;
  private freed: number;
  private delivered = 0;

  constructor(memory: NativeQueueMemory) {
    this.sq = new Uint32Array(memory.submissions);
    this.sqInts = new Int32Array(memory.submissions);
    this.cq = new Uint32Array(memory.completions);
    this.cqInts = new Int32Array(memory.completions);
    this.posted = new Int32Array(memory.counters, completionsPosted, 1);
    this.sleepers = new Int32Array(memory.sleepers);
    this.capacity = Atomics.load(this.sqInts, ring.capacity >> 2);
    this.slotCount = Atomics.load(this.cqInts, slots.slotCount >> 2);
    this.freeList = (slots.words + 8 * this.slotCount) >> 2;
    this.freed = Atomics.load(this.cq, slots.freed >> 2);
  }

  get completionSlots(): number {
    return this.slotCount;
  }

  /** Takes the submission lock. @returns entries that may be written now: as many as there is room and slots for. */
  lock(): number {
    while (Atomics.compareExchange(this.sqInts, ring.lock >> 2, 0, jsOwner) !== 0) {
      // A native thread is publishing: some nanoseconds.
    }
    this.tail = Atomics.load(this.sq, ring.tail >> 2);
    const head = Atomics.load(this.sq, ring.head >> 2);
    const room = this.capacity - ((this.tail - head) >>> 0);
    const free = (this.freed - Atomics.load(this.cq, slots.claimed >> 2)) >>> 0;
    return Math.min(room, free);
  }

  /** @pre lock() said that there is one. */
  claimSlot(): number {
    const claimed = Atomics.load(this.cq, slots.claimed >> 2);
    const slot = this.cq[this.freeList + (claimed & (this.slotCount - 1))] ?? 0;
    Atomics.store(this.cq, slots.claimed >> 2, claimed + 1);
    return slot;
  }

  /** Fills entry number `index` of those that publish() will show. Addresses are Numbers below 2^48. */
  write(index: number, handle: number, slot: number, send: number, recv: number): void {
    const { sq } = this;
    const position = (this.tail + index) >>> 0;
    const at = (ring.entries + (position & (this.capacity - 1)) * ring.entryBytes) >> 2;
    const sequence = ((position + 1) & 0xffff) << 16;
    sq[at] = handle;
    sq[at + 1] = sequence;
    sq[at + 2] = 0;
    sq[at + 3] = sequence;
    sq[at + 4] = slot;
    sq[at + 5] = sequence;
    sq[at + 6] = send;
    sq[at + 7] = sequence | (send / 0x1_0000_0000);
    sq[at + 8] = recv;
    sq[at + 9] = sequence | (recv / 0x1_0000_0000);
    sq[at + 10] = position;
    sq[at + 11] = sequence;
    sq[at + 12] = 0;
    sq[at + 13] = sequence;
    sq[at + 14] = 0;
    sq[at + 15] = sequence;
  }

  /** Shows the first `count` entries to the engine and gives the lock back. */
  publish(count: number): void {
    const tail = (this.tail + count) >>> 0;
    if (count > 0) {
      // The counter has 64 bits; the high half moves once in 2^32 entries, before the low one wraps into view.
      if (tail < this.tail) Atomics.add(this.sqInts, (ring.tail >> 2) + 1, 1);
      Atomics.store(this.sq, ring.tail >> 2, tail);
    }
    Atomics.store(this.sqInts, ring.lock >> 2, 0);
  }

  /** Whether engine threads sleep, so that somebody has to ring. */
  hasSleepers(): boolean {
    return Atomics.load(this.sleepers, 0) !== 0;
  }

  /** What was posted for a claimed slot: 0 while nothing was, else the status. */
  statusOf(slot: number): number {
    return Atomics.load(this.cqInts, (slots.words >> 2) + 2 * slot + 1) & 0xffff;
  }

  /** Gives a slot back once its completion was seen. */
  freeSlot(slot: number): void {
    const { cq } = this;
    const word = (slots.words >> 2) + 2 * slot;
    cq[word] = 0;
    Atomics.store(cq, word + 1, 0);
    cq[this.freeList + (this.freed & (this.slotCount - 1))] = slot;
    this.freed = (this.freed + 1) >>> 0;
    Atomics.store(cq, slots.freed >> 2, this.freed);
    this.delivered = (this.delivered + 1) | 0;
  }

  /** Whether the engine has posted more than was freed. */
  hasUndelivered(): boolean {
    return Atomics.load(this.posted, 0) !== this.delivered;
  }

  /** Asks for (1) or declines (0) a wake-up at the next completion. Look at hasUndelivered() once more after asking. */
  setNeedsWake(on: 0 | 1): void {
    Atomics.store(this.sqInts, ring.waiters >> 2, on);
  }
}
