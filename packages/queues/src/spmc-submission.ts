import { bytesOf, checkInteger, checkPowerOfTwo } from "./errors.js";
import { spmcSubmissionLayout as layout, wordAt } from "./layout.js";
import { DONE, FULL, type Outcome } from "./outcome.js";
import { blockCountIn, capacityIn, mostBlocks, requireMemory, requireQueue } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";
import { checkSqe, readEntry, type Sqe, writeEntry } from "./sqe.js";

const ENTRIES = wordAt(layout.entries);
const ENTRY = wordAt(layout.entryBytes);

const CAPACITY = wordAt(layout.capacity);
const BLOCK_COUNT = wordAt(layout.blockCount);
const TURN = wordAt(layout.turn);
const READERS = wordAt(layout.readers);

/**
 * The papers' submission queue: every block reads the host's entry and counts itself there, and the last one frees the
 * slot. A slot's turn (32 bits, wrapping) says who may act on it for position p: p, the producer; p + 1, the blocks;
 * p + capacity, freed for the next lap.
 */
export interface SpmcSubmission {
  readonly words: SharedWords;
  readonly capacity: number;
  readonly blockCount: number;
}

function slotIndex(ring: SpmcSubmission, position: number): number {
  return ENTRIES + (position & (ring.capacity - 1)) * ENTRY;
}

export function spmcSubmissionBytes(capacity: number): number {
  return bytesOf("capacity", capacity, layout.entries, layout.entryBytes);
}

/**
 * Makes an empty ring before anyone else sees the memory.
 * @param capacity - entries, a power of two, at least 2.
 * @throws {QueueMisuseError} for another capacity or block count.
 */
export function createSpmcSubmission(words: SharedWords, capacity: number, blockCount: number, firstPosition = 0): SpmcSubmission {
  checkPowerOfTwo("capacity", capacity, 2, 2 ** 24);
  checkInteger("blockCount", blockCount, 1, mostBlocks);
  requireMemory(words, spmcSubmissionBytes(capacity));
  const ring = { words, capacity, blockCount };
  words.store(CAPACITY, capacity);
  words.store(BLOCK_COUNT, blockCount);
  for (let i = 0; i < capacity; i++) {
    const at = slotIndex(ring, firstPosition + i);
    words.store(at + READERS, 0);
    words.store(at + TURN, (firstPosition + i) | 0);
  }
  return ring;
}

export function attachSpmcSubmission(words: SharedWords): SpmcSubmission {
  return { words, capacity: capacityIn(words, CAPACITY, 2, 2 ** 24), blockCount: blockCountIn(words, BLOCK_COUNT) };
}

/** One at a time. */
export class SpmcProducer {
  readonly #ring: SpmcSubmission;
  #position: number;

  /** @param position - where the last producer stopped. */
  constructor(ring: SpmcSubmission, position = 0) {
    requireQueue(ring, "capacity", "blockCount");
    checkInteger("position", position, 0, Number.MAX_SAFE_INTEGER);
    this.#ring = ring;
    this.#position = position;
  }

  /** @returns `full`: some block has not read the oldest entry. */
  trySubmit(sqe: Sqe): Outcome<"full"> {
    checkSqe(sqe);
    const { words } = this.#ring;
    const at = slotIndex(this.#ring, this.#position);
    if (words.load(at + TURN) !== (this.#position | 0)) return FULL;
    writeEntry(words, at, this.#position, sqe);
    this.#position++;
    words.store(at + TURN, this.#position | 0);
    return DONE;
  }

  get position(): number {
    return this.#position;
  }
}

/** One block's end; one object a block. */
export class SpmcConsumer {
  readonly #ring: SpmcSubmission;
  #position: number;

  /** @param position - where this block's last consumer stopped. */
  constructor(ring: SpmcSubmission, position = 0) {
    requireQueue(ring, "capacity", "blockCount");
    checkInteger("position", position, 0, Number.MAX_SAFE_INTEGER);
    this.#ring = ring;
    this.#position = position;
  }

  /** @returns `undefined`: nothing new. */
  take(): Sqe | undefined {
    const { words, capacity, blockCount } = this.#ring;
    const at = slotIndex(this.#ring, this.#position);
    if (words.load(at + TURN) !== ((this.#position + 1) | 0)) return undefined;
    const sqe = readEntry(words, at);
    if (words.add(at + READERS, 1) + 1 === blockCount) {
      words.store(at + READERS, 0);
      words.store(at + TURN, (this.#position + capacity) | 0);
    }
    this.#position++;
    return sqe;
  }

  get position(): number {
    return this.#position;
  }
}
