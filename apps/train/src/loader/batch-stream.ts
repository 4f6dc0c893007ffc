import { BlockHolder, TrainerRing } from "@dfccl/queues";
import type { LoaderMemory } from "./loader-memory.js";

/** Batches that the trainer holds at most, before it takes one; half of them are what a stall may last. */
export const ringCapacity = 16;

/**
 * The trainer's end: batches in the order of the steps, whichever loader had them first. Its ring hovers around half of its
 * capacity ("take two"), which is what it lives on while a file system hangs.
 */
export class BatchStream {
  private readonly ring: TrainerRing;
  private readonly holder: BlockHolder;
  /** Batches that came before their turn, by step. */
  private readonly early = new Map<number, number>();
  private step: number;

  /**
   * @param rest - called where a second batch would be welcome and none is there yet: gives the loaders a moment. Called at
   *   most a few times a step, and only while less than half of the ring is full.
   */
  constructor(
    private readonly memory: LoaderMemory,
    firstStep: number,
    rest: () => void,
    private readonly capacity = ringCapacity,
  ) {
    this.step = firstStep;
    this.holder = new BlockHolder(memory.status);
    this.ring = new TrainerRing({ tryGet: () => this.tryGet(rest) }, capacity);
  }

  /** Batches in hand. */
  get held(): number {
    return this.ring.size + this.early.size;
  }

  /** The next step's batch, which is valid until the next call. @returns undefined: it isn't there yet. */
  tryNext(): Float32Array | undefined {
    for (;;) {
      const block = this.early.get(this.step) ?? this.take();
      if (block === undefined) return undefined;
      const [step = 0, status = 0] = this.memory.prefix(block);
      if (step !== this.step) {
        this.early.set(step, block);
        continue;
      }
      this.early.delete(step);
      this.step += 1;
      // Gives the last batch's block back to its loader.
      this.holder.hold(status);
      return this.memory.batch(block);
    }
  }

  private take(): number | undefined {
    const value = this.ring.next();
    return value === 0 ? undefined : value - 1;
  }

  private tryGet(rest: () => void): number {
    const value = this.memory.flipFlop.tryGet();
    if (value !== 0 || this.ring.size > this.capacity / 2) return value;
    rest();
    return this.memory.flipFlop.tryGet();
  }
}
