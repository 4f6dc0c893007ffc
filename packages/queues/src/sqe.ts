import { checkNumbers } from "./errors.js";
import { highHalf } from "./positions.js";
import type { SharedWords } from "./shared-words.js";

/**
 * A submission queue entry. On the hot path give all entries the same properties in the same order, so that V8 sees one
 * shape.
 */
export interface Sqe {
  /** Collective id, 32 bits. */
  readonly id: number;
  /** {@link SQE_EXIT}, {@link SQE_AFTER_CONTROL} or 0; 16 bits. */
  readonly flags: number;
  /** Run number of this id on this rank, 48 bits. */
  readonly run: number;
  /** Where the completion is to be posted, 32 bits; `NO_COMPLETION_SLOT` where the queue has no slots. */
  readonly completionSlot: number;
  /** Addresses in bytes, 48 bits. */
  readonly sendAddress: number;
  readonly recvAddress: number;
  /** 0, or the scalar of a scaled sum; 48 bits. */
  readonly count: number;
  /** Windows of the buffers, 16 bits; 0 where they have none. */
  readonly sendWindow: number;
  readonly recvWindow: number;
}

/** Flag: the daemon leaves for good after this entry. */
export const SQE_EXIT = 1;

/** Flag: the host had asked something of the daemon before, an abort, which comes first. */
export const SQE_AFTER_CONTROL = 4;

const fields = ["id", "flags", "run", "completionSlot", "sendAddress", "recvAddress", "count", "sendWindow", "recvWindow"] as const;

/** @throws {QueueMisuseError} naming the field that is no number. */
export function checkSqe(sqe: Sqe): void {
  checkNumbers("sqe", sqe, fields);
}

/** 32-bit words of an entry. Its eight 64-bit words hold 48 bits of payload each below 16 bits of sequence. */
export const ENTRY_WORDS = 16;

/** Payload of the last word of an entry whose producer died while it wrote it: readers step over it. */
export const VOID_ENTRY = 1;

const TWO_TO_32 = 2 ** 32;

/** The sequence that every word of the entry at `position` carries, as it stands in a word's high half. */
export function sequenceBits(position: number): number {
  return (position + 1) << 16;
}

/** True if the high half of a word carries the sequence of `position`. */
export function hasSequence(highWord: number, position: number): boolean {
  return highWord >>> 16 === ((position + 1) & 0xffff);
}

/**
 * Writes an entry whose words a GPU may poll one by one. All low halves come before the first sequence and the last word's
 * sequence comes after everything: two atomic stores keep that order, where one a word would take four times as long.
 * @param at - word index of the entry.
 */
export function writeEntry(words: SharedWords, at: number, position: number, sqe: Sqe): void {
  const sequence = sequenceBits(position);
  words.plainStore(at, sqe.id | 0);
  words.plainStore(at + 2, sqe.run | 0);
  words.plainStore(at + 4, sqe.completionSlot | 0);
  words.plainStore(at + 6, sqe.sendAddress | 0);
  words.plainStore(at + 8, sqe.recvAddress | 0);
  words.plainStore(at + 10, position | 0);
  words.plainStore(at + 12, sqe.count | 0);
  words.plainStore(at + 14, sqe.sendWindow << 16);
  words.store(at + 1, sequence | (sqe.flags & 0xffff));
  words.plainStore(at + 3, sequence | (highHalf(sqe.run) & 0xffff));
  words.plainStore(at + 5, sequence);
  words.plainStore(at + 7, sequence | (highHalf(sqe.sendAddress) & 0xffff));
  words.plainStore(at + 9, sequence | (highHalf(sqe.recvAddress) & 0xffff));
  words.plainStore(at + 11, sequence | (highHalf(position) & 0xffff));
  words.plainStore(at + 13, sequence | (highHalf(sqe.count) & 0xffff));
  words.store(at + 15, sequence | (sqe.recvWindow & 0xffff));
}

/** Reads an entry that has been published. */
export function readEntry(words: SharedWords, at: number): Sqe {
  return {
    id: words.plainLoad(at) >>> 0,
    flags: words.plainLoad(at + 1) & 0xffff,
    run: readPayload(words, at + 2),
    completionSlot: words.plainLoad(at + 4) >>> 0,
    sendAddress: readPayload(words, at + 6),
    recvAddress: readPayload(words, at + 8),
    count: readPayload(words, at + 12),
    sendWindow: words.plainLoad(at + 14) >>> 16,
    recvWindow: words.plainLoad(at + 15) & 0xffff,
  };
}

function readPayload(words: SharedWords, at: number): number {
  return (words.plainLoad(at + 1) & 0xffff) * TWO_TO_32 + (words.plainLoad(at) >>> 0);
}
