import { blockPoolBytes, FlipFlop, flipFlopBytes, type SharedWords, sharedWords } from "@dfccl/queues";

/** What a trainer and its loaders share, as it is handed to a thread. */
export interface LoaderShape {
  readonly memory: SharedArrayBuffer;
  readonly workers: number;
  /** Of each worker. */
  readonly blocks: number;
  /** Numbers in a batch. */
  readonly floats: number;
}

const lineBytes = 64;
const prefixBytes = 16;
const failureBytes = 512;
const aligned = (bytes: number): number => Math.ceil(bytes / lineBytes) * lineBytes;

/**
 * One flip-flop, a status word for every block, room for a failure's text, and the blocks. A block is a prefix (its batch's
 * number and its status word's) and a batch: the right to use it again travels with it, and comes back through the word.
 */
export class LoaderMemory {
  readonly flipFlop: FlipFlop;
  /** Of all workers' blocks, one after another. */
  readonly status: SharedWords;
  private readonly failure: Int32Array;
  private readonly firstBlock: number;
  private readonly blockBytes: number;

  constructor(readonly shape: LoaderShape) {
    const { memory, workers, blocks, floats } = shape;
    this.flipFlop = new FlipFlop(sharedWords(memory, 0, flipFlopBytes));
    const statusAt = aligned(flipFlopBytes);
    const statusBytes = blockPoolBytes(workers * blocks);
    this.status = sharedWords(memory, statusAt, statusBytes);
    const failureAt = statusAt + aligned(statusBytes);
    this.failure = new Int32Array(memory, failureAt, failureBytes / 4);
    this.firstBlock = failureAt + failureBytes;
    this.blockBytes = aligned(prefixBytes + 4 * floats);
  }

  static create(workers: number, blocks: number, floats: number): LoaderMemory {
    const fixed = aligned(flipFlopBytes) + aligned(blockPoolBytes(workers * blocks)) + failureBytes;
    const memory = new SharedArrayBuffer(fixed + workers * blocks * aligned(prefixBytes + 4 * floats));
    return new LoaderMemory({ memory, workers, blocks, floats });
  }

  /** The status words of one worker. */
  statusOf(worker: number): SharedWords {
    const { memory, blocks } = this.shape;
    return sharedWords(memory, aligned(flipFlopBytes) + blockPoolBytes(worker * blocks), blockPoolBytes(blocks));
  }

  /** @param block - counted over all workers. */
  prefix(block: number): Int32Array {
    return new Int32Array(this.shape.memory, this.firstBlock + block * this.blockBytes, prefixBytes / 4);
  }

  batch(block: number): Float32Array {
    return new Float32Array(this.shape.memory, this.firstBlock + block * this.blockBytes + prefixBytes, this.shape.floats);
  }

  /** A loader can't go on: the trainer, which waits without a turn of its event loop, finds the reason here. */
  fail(reason: string): void {
    const bytes = new TextEncoder().encode(reason).slice(0, failureBytes - 4);
    new Uint8Array(this.failure.buffer, this.failure.byteOffset + 4).set(bytes);
    Atomics.store(this.failure, 0, bytes.length);
  }

  /** Why a loader failed, if one has. */
  failureReason(): string | undefined {
    const length = Atomics.load(this.failure, 0);
    if (length === 0) return undefined;
    return new TextDecoder().decode(Uint8Array.from(new Uint8Array(this.failure.buffer, this.failure.byteOffset + 4, length)));
  }
}
