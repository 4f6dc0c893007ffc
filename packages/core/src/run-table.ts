import type { RegisteredCollective } from "./api.js";
import type { CollectiveBuffer } from "./backend.js";
import { completeRun, failBatch, type LocalBatch } from "./batch.js";
import type { Quarantine } from "./quarantine.js";
import { cqeCompleted, cqeMismatched, type RankQueues } from "./rank-queues.js";
import { registrationOf } from "./registered-collective.js";
import type { Registration } from "./registration.js";

type Buffer = CollectiveBuffer | null | undefined;

const fewestRows = 64;

/**
 * The runs of a rank that are in flight. A run is a row of parallel arrays, numbered by its completion slot, so that
 * submitting and delivering make no objects.
 */
export class RunTable {
  private readonly collectives: (RegisteredCollective | undefined)[] = [];
  private readonly batches: (LocalBatch | undefined)[] = [];
  private positions = new Int32Array(0);
  // Held so that the memory stays alive while the engine may touch it.
  private readonly sends: Buffer[] = [];
  private readonly recvs: Buffer[] = [];
  // Slots in the order of submission: those in flight lie in [first, end). Completions come in nearly the same order, so a
  // poll that begins with the oldest sees few others.
  private inFlight = new Int32Array(0);
  private first = 0;
  private end = 0;
  // A poll's finds.
  private doneSlots = new Int32Array(0);
  private doneStatuses = new Int32Array(0);
  /** Of those that didn't complete, by the place among the finds. */
  private readonly doneFailures: unknown[] = [];
  private isEngineStopped = false;
  // Slots that there are rows for. The engine gives those out first that were used before, so that a rank has rows for as many
  // as it ever had in flight: rows for all of them are 400 KB, of each of a world's ranks.
  private capacity = 0;

  constructor(
    private readonly queues: RankQueues,
    private readonly quarantine: Quarantine,
    private readonly whyFailed: (registration: Registration, status: number) => unknown,
  ) {
    this.grow(fewestRows);
  }

  get size(): number {
    return this.end - this.first;
  }

  /** Whether it holds of any buffer of the runs in flight. */
  someBuffer(holds: (buffer: Buffer) => boolean): boolean {
    return this.sends.some(holds) || this.recvs.some(holds);
  }

  add(slot: number, collective: RegisteredCollective, batch: LocalBatch, position: number, send: Buffer, recv: Buffer): void {
    if (slot >= this.capacity) this.grow(Math.max(slot + 1, 2 * this.capacity));
    this.collectives[slot] = collective;
    this.batches[slot] = batch;
    this.positions[slot] = position;
    this.sends[slot] = send;
    this.recvs[slot] = recv;
    if (this.end === this.inFlight.length) this.moveToFront();
    this.inFlight[this.end] = slot;
    this.end += 1;
  }

  /** Delivers what the engine has posted. Callbacks may submit again. @returns how many. */
  deliver(): number {
    const { queues, doneSlots, doneStatuses } = this;
    const posted = queues.undelivered();
    if (posted === 0) return 0;
    // Everything is taken off the list before the first callback, because callbacks add to it.
    const count = this.takePosted(posted);
    for (let i = 0; i < count; i += 1) {
      const slot = doneSlots[i] ?? 0;
      const collective = this.collectives[slot];
      const batch = this.batches[slot];
      if (collective === undefined || batch === undefined) continue;
      const registration = registrationOf(collective);
      let failure: unknown;
      const status = doneStatuses[i] ?? 0;
      if (status !== cqeCompleted) {
        failure = this.doneFailures[i];
        this.doneFailures[i] = undefined;
        if (status !== cqeMismatched && !this.isEngineStopped) this.quarantine.hold(registration, this.sends[slot], this.recvs[slot]);
      }
      this.clear(slot);
      if (!this.isEngineStopped) queues.freeSlot(slot);
      registration.deliveredRuns += 1;
      completeRun(batch, collective, this.positions[slot] ?? 0, failure);
    }
    if (!this.isEngineStopped) queues.publishFreed();
    return count;
  }

  /**
   * Fails every run in flight.
   * @param isEngineStopped - otherwise the buffers stay referenced, because the engine still knows them.
   */
  failAll(error: unknown, isEngineStopped: boolean): void {
    this.isEngineStopped ||= isEngineStopped;
    for (let i = this.first; i < this.end; i += 1) {
      const slot = this.inFlight[i] ?? 0;
      const batch = this.batches[slot];
      if (isEngineStopped) this.clear(slot);
      if (batch !== undefined) failBatch(batch, error);
    }
    if (isEngineStopped) this.first = this.end;
  }

  /** Moves up to `limit` posted runs from the list to doneSlots. */
  private takePosted(limit: number): number {
    const { queues, inFlight, doneSlots, doneStatuses, end } = this;
    let found = 0;
    let at = this.first;
    for (; at < end && found < limit; at += 1) {
      const slot = inFlight[at] ?? 0;
      const status = queues.statusOf(slot);
      if (status === 0) {
        // Those passed over close ranks behind; below, they move up to where the look ended.
        inFlight[at - found] = slot;
        continue;
      }
      doneSlots[found] = slot;
      doneStatuses[found] = status;
      // Asked before the first callback too: it may close the world, and nobody can tell then.
      if (status !== cqeCompleted) this.doneFailures[found] = this.failureOf(slot, status);
      found += 1;
    }
    inFlight.copyWithin(this.first + found, this.first, at - found);
    this.first += found;
    return found;
  }

  private failureOf(slot: number, status: number): unknown {
    const collective = this.collectives[slot];
    if (collective === undefined) return undefined;
    try {
      return this.whyFailed(registrationOf(collective), status);
    } catch (error) {
      return error; // The other runs are delivered all the same.
    }
  }

  private clear(slot: number): void {
    this.collectives[slot] = undefined;
    this.batches[slot] = undefined;
    this.sends[slot] = undefined;
    this.recvs[slot] = undefined;
  }

  private grow(rows: number): void {
    const capacity = Math.min(rows, this.queues.completionSlots);
    for (let slot = this.capacity; slot < capacity; slot += 1) {
      this.collectives.push(undefined);
      this.batches.push(undefined);
      this.sends.push(undefined);
      this.recvs.push(undefined);
    }
    this.positions = lengthened(this.positions, capacity);
    this.inFlight = lengthened(this.inFlight, 2 * capacity);
    this.doneSlots = lengthened(this.doneSlots, capacity);
    this.doneStatuses = lengthened(this.doneStatuses, capacity);
    this.capacity = capacity;
  }

  private moveToFront(): void {
    this.inFlight.copyWithin(0, this.first, this.end);
    this.end -= this.first;
    this.first = 0;
  }
}

function lengthened(from: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const to = new Int32Array(length);
  to.set(from);
  return to;
}
