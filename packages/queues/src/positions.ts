import type { SharedWords } from "./shared-words.js";

// Positions count entries since creation: 64 bits in shared memory, a Number here (2^53 entries at ten million a second
// last 28 years). On the hot path only the low half is touched. That is enough to read, because a position in shared
// memory is always near one that the reader knows; and to write, except in the step that carries into the high half.

const TWO_TO_32 = 2 ** 32;

/** The position in shared memory, whatever it is. @pre Nobody writes there meanwhile: the halves are read one by one. */
export function readSettledPosition(words: SharedWords, index: number): number {
  return (words.load(index + 1) >>> 0) * TWO_TO_32 + (words.load(index) >>> 0);
}

/** The same while others may write: slow (BigInt), for those who have nothing to compare it with yet. */
export function readPosition(words: SharedWords, index: number): number {
  return Number(words.load64(index));
}

/** The position nearest to `near` whose low half is in shared memory. */
export function readPositionNear(words: SharedWords, index: number, near: number): number {
  return near + ((words.load(index) - (near | 0)) | 0);
}

/** Publishes `to` where `from` was. @pre Nobody else writes there meanwhile. */
export function writePosition(words: SharedWords, index: number, from: number, to: number): void {
  if (highHalf(from) === highHalf(to)) {
    words.store(index, to | 0);
  } else {
    words.store64(index, BigInt(to));
  }
}

/** Bits 32 and up. */
export function highHalf(value: number): number {
  return Math.floor(value / TWO_TO_32);
}
