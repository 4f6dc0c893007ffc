import type { Batch } from "./batch.js";
import { CollectiveAbortedError } from "./errors.js";
import { cqeCompleted, type RankQueues } from "./rank-queues.js";
import type { RegisteredCollective } from "./registered-collective.js";

interface RunInFlight {
  collective: RegisteredCollective;
  batch: Batch;
  position: number;
  // Held so that the memory stays alive while the engine may touch it.
  send: ArrayBufferView | null | undefined;
  recv: ArrayBufferView | null | undefined;
}

/** The runs of a rank that are in flight, by completion slot. */
export class RunTable {
  private readonly bySlot: (RunInFlight | undefined)[];
  /** Slots in flight, in no order: what a poll looks at. */
  private readonly slots: Int32Array;
  private count = 0;

  constructor(private readonly queues: RankQueues) {
    this.bySlot = new Array<RunInFlight | undefined>(queues.completionSlots).fill(undefined);
    this.slots = new Int32Array(queues.completionSlots);
  }

  get size(): number {
    return this.count;
  }

  add(
    slot: number,
    collective: RegisteredCollective,
    batch: Batch,
    position: number,
    send: ArrayBufferView | null | undefined,
    recv: ArrayBufferView | null | undefined,
  ): void {
    this.bySlot[slot] = { collective, batch, position, send, recv };
    this.slots[this.count] = slot;
    this.count += 1;
  }

  /** Delivers what the engine has posted. Callbacks may submit again. @returns how many. */
  deliver(): number {
    const { queues, slots, bySlot } = this;
    if (this.count === 0 || !queues.hasUndelivered()) return 0;
    let delivered = 0;
    // Everything is taken off the table first, because callbacks change it.
    const done: RunInFlight[] = [];
    const statuses: number[] = [];
    for (let i = 0; i < this.count; ) {
      const slot = slots[i] ?? 0;
      const status = queues.statusOf(slot);
      if (status === 0) {
        i += 1;
        continue;
      }
      const run = bySlot[slot];
      queues.freeSlot(slot);
      bySlot[slot] = undefined;
      this.count -= 1;
      slots[i] = slots[this.count] ?? 0;
      if (run) {
        done.push(run);
        statuses.push(status);
      }
    }
    for (let i = 0; i < done.length; i += 1) {
      const run = done[i];
      if (run === undefined) continue;
      delivered += 1;
      const failure = statuses[i] === cqeCompleted ? undefined : new CollectiveAbortedError(run.collective.name);
      run.batch.complete(run.collective, run.position, failure);
    }
    return delivered;
  }

  /** Fails every run in flight; their buffers stay referenced, because the engine may still know them. */
  failAll(error: unknown): void {
    for (let i = 0; i < this.count; i += 1) this.bySlot[this.slots[i] ?? 0]?.batch.fail(error);
  }
}
