import { checkInteger, QueueMisuseError } from "./errors.js";

/**
 * The memory of one queue as its algorithm sees it, in 32-bit words. Every access that another participant may notice goes
 * through here, so that the tests can put a scheduler in its place and try every interleaving. In production it is
 * {@link sharedWords}; as long as only that one is used, V8 inlines it and the algorithms cost what bare `Atomics` cost.
 *
 * 32-bit values are signed. 64-bit accesses take the index of their low word, which must be even.
 */
export interface SharedWords {
  /** How much memory there is. */
  readonly byteLength: number;
  load(index: number): number;
  store(index: number, value: number): void;
  /** @returns What was there before. */
  add(index: number, value: number): number;
  /** @returns What was there before: `expected` if it was replaced. */
  compareExchange(index: number, expected: number, replacement: number): number;
  load64(index: number): bigint;
  store64(index: number, value: bigint): void;
  exchange64(index: number, value: bigint): bigint;
  compareExchange64(index: number, expected: bigint, replacement: bigint): bigint;
  /** Not ordered by itself: an atomic access beside it must publish it. */
  plainLoad(index: number): number;
  plainStore(index: number, value: number): void;
}

/** What to throw in place of what `Atomics` throws; nothing is looked at before, which costs nothing where all is well. */
function refused(index: unknown, byteLength: number, cause: unknown): QueueMisuseError {
  const words = Math.floor(byteLength / 4);
  return new QueueMisuseError(
    "This is no word of the memory, or no value for one.",
    { index, words },
    `Give a whole number from 0 to ${words - 1}; as values numbers, and bigints where 64 bits are meant.`,
    cause,
  );
}

class AtomicWords implements SharedWords {
  readonly #words: Int32Array;
  readonly #doubleWords: BigUint64Array;
  readonly byteLength: number;

  constructor(buffer: ArrayBufferLike, byteOffset: number, byteLength: number) {
    this.byteLength = byteLength;
    this.#words = new Int32Array(buffer, byteOffset, byteLength / 4);
    this.#doubleWords = new BigUint64Array(buffer, byteOffset, Math.floor(byteLength / 8));
  }

  load(index: number): number {
    try {
      return Atomics.load(this.#words, index);
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
  store(index: number, value: number): void {
    try {
      Atomics.store(this.#words, index, value);
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
  add(index: number, value: number): number {
    try {
      return Atomics.add(this.#words, index, value);
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
  compareExchange(index: number, expected: number, replacement: number): number {
    try {
      return Atomics.compareExchange(this.#words, index, expected, replacement);
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
  load64(index: number): bigint {
    try {
      return Atomics.load(this.#doubleWords, index >> 1);
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
  store64(index: number, value: bigint): void {
    try {
      Atomics.store(this.#doubleWords, index >> 1, value);
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
  exchange64(index: number, value: bigint): bigint {
    try {
      return Atomics.exchange(this.#doubleWords, index >> 1, value);
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
  compareExchange64(index: number, expected: bigint, replacement: bigint): bigint {
    try {
      return Atomics.compareExchange(this.#doubleWords, index >> 1, expected, replacement);
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
  plainLoad(index: number): number {
    try {
      return this.#words[index] ?? 0;
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
  plainStore(index: number, value: number): void {
    try {
      this.#words[index] = value;
    } catch (cause) {
      throw refused(index, this.byteLength, cause);
    }
  }
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/**
 * The words of a queue in `buffer`: a SharedArrayBuffer between workers, or an ArrayBuffer over native memory.
 * @param byteOffset - where the queue begins; a multiple of 8 (of 64 to keep its cache lines apart).
 * @param length - what the queue's `...Bytes()` says; a multiple of 4. Default: all the rest.
 * @throws {QueueMisuseError} if the range is not aligned or not inside the buffer, or the buffer is none.
 */
export function sharedWords(buffer: ArrayBufferLike, byteOffset = 0, length?: number): SharedWords {
  // By its tag: in another realm, a test runner's say, it is an instance of that one's class.
  if (!["[object SharedArrayBuffer]", "[object ArrayBuffer]"].includes(Object.prototype.toString.call(buffer))) {
    throw new QueueMisuseError("buffer is no memory.", {}, "Give a SharedArrayBuffer or an ArrayBuffer; of a typed array, its buffer.");
  }
  if (!isLittleEndian) {
    throw new QueueMisuseError(
      "This machine is big endian.",
      {},
      "The layouts are shared with native code on little-endian machines only.",
    );
  }
  checkInteger("byteOffset", byteOffset, 0, Number.MAX_SAFE_INTEGER);
  const byteLength = length ?? buffer.byteLength - byteOffset;
  if (length !== undefined) checkInteger("byteLength", length, 0, Number.MAX_SAFE_INTEGER);
  const isInside = byteOffset >= 0 && byteLength >= 0 && byteOffset + byteLength <= buffer.byteLength;
  if (byteOffset % 8 !== 0 || byteLength % 4 !== 0 || !isInside) {
    throw new QueueMisuseError(
      `A queue can't lie at bytes ${byteOffset} to ${byteOffset + byteLength} of a buffer of ${buffer.byteLength}.`,
      { byteOffset, byteLength, bufferBytes: buffer.byteLength },
      "Give an offset that is a multiple of 8, a length that is a multiple of 4, and both inside the buffer.",
    );
  }
  return new AtomicWords(buffer, byteOffset, byteLength);
}
