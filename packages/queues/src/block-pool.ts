import { bytesOf, checkInteger } from "./errors.js";
import { requireMemory } from "./queue-memory.js";
import type { SharedWords } from "./shared-words.js";

/** Bytes of the status words of a pool. */
export function blockPoolBytes(blockCount: number): number {
  return bytesOf("blockCount", blockCount, 0, 4);
}

/**
 * The worker's end of a pool of memory blocks; one thread allocates. A block flows to the trainer by any queue; the right to
 * reuse it flows back through its status word (0 = unused), whose number travels with the block.
 */
export class BlockPool {
  readonly #status: SharedWords;
  readonly #blockCount: number;
  #next = 0;

  /** @param status - one word a block, zeroed at first, shared with the trainer. */
  constructor(status: SharedWords, blockCount: number) {
    checkInteger("blockCount", blockCount, 1, 2 ** 24);
    requireMemory(status, blockPoolBytes(blockCount));
    this.#status = status;
    this.#blockCount = blockCount;
  }

  /** @returns number of a block that is this worker's until it is handed over and freed; `undefined`: none is free. */
  tryAcquire(): number | undefined {
    for (let i = 0; i < this.#blockCount; i++) {
      const block = this.#next;
      this.#next = block + 1 === this.#blockCount ? 0 : block + 1;
      if (this.#status.load(block) !== 0) continue;
      this.#status.store(block, 1);
      return block;
    }
    return undefined;
  }
}

/** The trainer's end of a pool: frees the block it used last when it takes the next one. */
export class BlockHolder {
  readonly #status: SharedWords;
  #held: number | undefined;

  constructor(status: SharedWords) {
    requireMemory(status, 0);
    this.#status = status;
  }

  /** Takes a block over. */
  hold(block: number): void {
    checkInteger("block", block, 0, this.#status.byteLength / 4 - 1);
    this.release();
    this.#held = block;
  }

  /** Frees the block in hand, if any, after the trainer's last read of it. (The slides' text stores 1, which frees nothing.) */
  release(): void {
    if (this.#held !== undefined) this.#status.store(this.#held, 0);
    this.#held = undefined;
  }
}
