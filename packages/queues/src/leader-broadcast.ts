import { bytesOf, checkInteger, checkPowerOfTwo } from "./errors.js";
import { leaderBroadcastLayout as layout, wordAt } from "./layout.js";
import { DONE, FULL, type Outcome } from "./outcome.js";
import { readPosition, readPositionNear, writePosition } from "./positions.js";
import { blockCountIn, capacityIn, mostBlocks, requireMemory, requireQueue } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";
import { checkSqe, ENTRY_WORDS, readEntry, type Sqe, writeEntry } from "./sqe.js";

const TAIL = wordAt(layout.tail);
const CAPACITY = wordAt(layout.capacity);
const BLOCK_COUNT = wordAt(layout.blockCount);
const CURSORS = wordAt(layout.cursors);
const CURSOR_WORDS = wordAt(layout.cursorBytes);

/**
 * One writer, every block reads everything, in the same order. A slot is refilled only after every block has passed it; a
 * block that stops stops the leader, never a neighbour. Here its entries are SQEs; in C++ they may be anything.
 */
export interface LeaderBroadcast {
  readonly words: SharedWords;
  readonly capacity: number;
  readonly blockCount: number;
}

function cursorIndex(block: number): number {
  return CURSORS + block * CURSOR_WORDS;
}

function slotIndex(ring: LeaderBroadcast, position: number): number {
  return cursorIndex(ring.blockCount) + (position & (ring.capacity - 1)) * ENTRY_WORDS;
}

export function leaderBroadcastBytes(capacity: number, blockCount: number): number {
  return bytesOf("blockCount", blockCount, layout.cursors, layout.cursorBytes) + bytesOf("capacity", capacity, 0, layout.entryBytes);
}

/**
 * Makes an empty ring before anyone else sees the memory.
 * @param capacity - entries, a power of two.
 * @throws {QueueMisuseError} for another capacity or block count.
 */
export function createLeaderBroadcast(words: SharedWords, capacity: number, blockCount: number, firstPosition = 0): LeaderBroadcast {
  checkPowerOfTwo("capacity", capacity, 1, 2 ** 30);
  checkInteger("blockCount", blockCount, 1, mostBlocks);
  requireMemory(words, leaderBroadcastBytes(capacity, blockCount));
  words.store(CAPACITY, capacity);
  words.store(BLOCK_COUNT, blockCount);
  for (let block = 0; block < blockCount; block++) words.store64(cursorIndex(block), BigInt(firstPosition));
  words.store64(TAIL, BigInt(firstPosition));
  return { words, capacity, blockCount };
}

export function attachLeaderBroadcast(words: SharedWords): LeaderBroadcast {
  return { words, capacity: capacityIn(words, CAPACITY, 1, 2 ** 30), blockCount: blockCountIn(words, BLOCK_COUNT) };
}

/** The leader's end. One at a time; it goes on where the last one stopped. */
export class BroadcastLeader {
  readonly #ring: LeaderBroadcast;
  #tail: number;
  #slowest: number; // no newer than the slowest cursor

  constructor(ring: LeaderBroadcast) {
    requireQueue(ring, "capacity", "blockCount");
    this.#ring = ring;
    this.#tail = readPosition(ring.words, TAIL);
    this.#slowest = this.#tail - ring.capacity;
  }

  /** @returns `full`: the slowest block has not passed the oldest entry. */
  tryPublish(sqe: Sqe): Outcome<"full"> {
    checkSqe(sqe);
    if (!this.hasRoom()) return FULL;
    writeEntry(this.#ring.words, slotIndex(this.#ring, this.#tail), this.#tail, sqe);
    writePosition(this.#ring.words, TAIL, this.#tail, this.#tail + 1);
    this.#tail++;
    return DONE;
  }

  /** True if the next `tryPublish` succeeds: look before taking what could not be given on. */
  hasRoom(): boolean {
    const { words, capacity, blockCount } = this.#ring;
    if (this.#tail - this.#slowest < capacity) return true;
    let slowest = this.#tail;
    for (let block = 0; block < blockCount; block++) {
      slowest = Math.min(slowest, readPositionNear(words, cursorIndex(block), this.#tail));
    }
    this.#slowest = slowest;
    return this.#tail - slowest < capacity;
  }

  /** Position of the next entry. */
  get position(): number {
    return this.#tail;
  }
}

/** One block's end; one object a block. It goes on where the block's last one stopped. */
export class BroadcastReader {
  readonly #ring: LeaderBroadcast;
  readonly #cursor: number;
  #position: number;
  #tail: number; // no newer than the leader's

  /** @throws {QueueMisuseError} if there is no such block. */
  constructor(ring: LeaderBroadcast, block: number) {
    requireQueue(ring, "capacity", "blockCount");
    checkInteger("block", block, 0, ring.blockCount - 1);
    this.#ring = ring;
    this.#cursor = cursorIndex(block);
    this.#position = readPosition(ring.words, this.#cursor);
    this.#tail = this.#position;
  }

  /** Reads the entry at {@link position} and leaves it there. @returns `undefined`: none yet. */
  peek(): Sqe | undefined {
    const { words } = this.#ring;
    if (this.#position === this.#tail) {
      this.#tail = readPositionNear(words, TAIL, this.#position);
      if (this.#position === this.#tail) return undefined;
    }
    return readEntry(words, slotIndex(this.#ring, this.#position));
  }

  /** Passes the entry that `peek` showed; this block will not look at it again. */
  pop(): void {
    writePosition(this.#ring.words, this.#cursor, this.#position, this.#position + 1);
    this.#position++;
  }

  /** `peek` and `pop` at once. */
  take(): Sqe | undefined {
    const sqe = this.peek();
    if (sqe !== undefined) this.pop();
    return sqe;
  }

  get position(): number {
    return this.#position;
  }
}
