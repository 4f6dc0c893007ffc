import { checkInteger } from "./errors.js";
// Where everything lies in shared memory: byte offsets, equal to the C++ structs in native/src/queues (a test
// compiles a dump of those and compares). Little endian. The one place in TypeScript that knows numbers of bytes.

export const submissionRingLayout = {
  tail: 0, // u64; producers, under the lock
  head: 64, // u64; the leader
  producerLock: 128, // u32; 0 or a producer's owner number
  capacity: 192, // u32
  needStart: 256, // u32; the engine's
  waiters: 260, // u32; the engine's
  entries: 320,
  entryBytes: 64,
  maxCapacity: 32768, // a 16-bit sequence must not repeat within two laps
} as const;

export const leaderBroadcastLayout = {
  tail: 0, // u64; the leader
  capacity: 8, // u32
  blockCount: 12, // u32
  cursors: 64, // one u64 a block, cursorBytes apart; entries follow
  cursorBytes: 64,
  entryBytes: 64,
} as const;

export const spmcSubmissionLayout = {
  capacity: 0, // u32
  blockCount: 4, // u32
  entries: 64,
  entryBytes: 128,
  words: 0, // within an entry
  turn: 64, // u32, within an entry
  readers: 68, // u32, within an entry
} as const;

export const vanillaRingLayout = {
  tail: 0, // u64; producers, under the lock
  capacity: 8, // u32
  head: 64, // u64; the poller
  lock: 128, // u32
  entries: 192, // u64 each
} as const;

export const packedRingLayout = {
  reserved: 0, // u64; producers
  capacity: 8, // u32
  head: 64, // u64; the poller
  entries: 128, // u64 each
  lapShift: 34, // of an entry: 14 bits
} as const;

export const casSlotsLayout = {
  slotCount: 0, // u32
  slots: 64, // u64 each
} as const;

export const ownedSlotsLayout = {
  freed: 0, // u32; the poller
  slotCount: 4, // u32
  claimed: 64, // u32; submitters
  used: 68, // u32; submitters
  slots: 128, // u64 each; then the free list, u32 each
} as const;

export const flipFlopLayout = { value: 0, bytes: 64 } as const;

export const waveLayout = { control: 0, counter: 64, bytes: 128 } as const;

/** A 32-bit word with a cache line of its own. */
export const paddedWordLayout = { value: 0, bytes: 64 } as const;

/** Index of the 32-bit word at a byte offset. */
export function wordAt(byteOffset: number): number {
  checkInteger("byteOffset", byteOffset, 0, Number.MAX_SAFE_INTEGER);
  return byteOffset / 4;
}
