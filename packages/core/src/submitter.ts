import { InvalidArgumentError } from "@dfccl/primitives";
import type { RegisteredCollective, RunRequest } from "./api.js";
import { completeRun, failBatch, type LocalBatch } from "./batch.js";
import type { RankQueues } from "./rank-queues.js";
import { isRegisteredCollective, registrationOf } from "./registered-collective.js";
import { type RegisteringRank, runAddressWords } from "./registration.js";
import type { RunTable } from "./run-table.js";

/** Runs of one batch that are still to be written. */
interface Pending {
  readonly batch: LocalBatch;
  readonly requests: readonly RunRequest[];
  /** What comes before this in the batch: a request's position is its index here plus this. */
  readonly offset: number;
  next: number;
}

/** Writes a rank's runs into its queue, and keeps what doesn't fit until there is room. */
export class Submitter {
  private readonly backlog: Pending[] = [];
  // Where the buffers of the runs lie that are being submitted. Kept between calls, so that a submission makes no objects.
  private addresses = new Float64Array(64 * runAddressWords);

  constructor(
    private readonly queues: RankQueues,
    private readonly runs: RunTable,
    private readonly wakeEngine: () => void,
  ) {}

  /** Runs that wait for room. */
  get waiting(): number {
    return this.backlog.reduce((sum, { requests, next }) => sum + requests.length - next, 0);
  }

  /**
   * @param rank - whose collectives they have to be.
   * @throws {InvalidArgumentError}, {BufferError}, {ClosedError} before anything is submitted.
   */
  check(requests: readonly RunRequest[], rank: RegisteringRank): void {
    // A number has no length, and a batch of so many runs would never end.
    if (!Array.isArray(requests)) throw new InvalidArgumentError("requests", requests, "a list of [collective, send, recv]");
    const count = requests.length;
    if (count * runAddressWords > this.addresses.length) this.addresses = new Float64Array(2 * count * runAddressWords);
    const { addresses } = this;
    for (let i = 0; i < count; i += 1) {
      const request = requests[i];
      const collective = request?.[0];
      if (!request || !isRegisteredCollective(collective)) throw notRegistered(collective);
      const registration = registrationOf(collective);
      if (registration.rank !== rank) throw notRegistered(collective);
      registration.prepare(request[1], request[2], addresses, i * runAddressWords);
    }
  }

  /** @pre check(requests) has just passed. */
  submit(batch: LocalBatch, requests: readonly RunRequest[]): void {
    for (const [collective] of requests) registrationOf(collective).issuedRuns += 1;
    const pending = { batch, requests, offset: 0, next: 0 };
    if (this.backlog.length === 0) this.write(pending, requests.length);
    if (pending.next === requests.length) return;
    // Copied, because the caller may use the lists again for his next submission.
    const rest = requests.slice(pending.next).map(([collective, send, recv]): RunRequest => [collective, send, recv]);
    this.backlog.push({ batch, requests: rest, offset: pending.next, next: 0 });
  }

  /** Submits what waited, as far as there is room now. */
  flush(): void {
    for (let pending = this.backlog[0]; pending !== undefined; pending = this.backlog[0]) {
      const { requests, next } = pending;
      const room = this.queues.room(requests.length - next);
      if (room === 0) return;
      const { ready, failure } = this.prepareAgain(pending, room);
      this.write(pending, ready);
      if (failure !== undefined && pending.next === next + ready) this.refuse(pending, failure);
      if (pending.next === requests.length) this.backlog.shift();
    }
  }

  /** Fails what waits. */
  failAll(error: unknown): void {
    for (const { batch } of this.backlog.splice(0)) failBatch(batch, error);
  }

  /** Writes up to `count` runs whose addresses lie in `addresses`. */
  private write(pending: Pending, count: number): void {
    const { queues, runs, addresses } = this;
    const { batch, requests, offset, next } = pending;
    const written = queues.begin(count);
    for (let i = 0; i < written; i += 1) {
      const request = requests[next + i];
      if (request === undefined) break;
      const collective = request[0];
      const at = i * runAddressWords;
      const { handle } = registrationOf(collective);
      const slot = queues.write(handle, addresses[at] ?? 0, addresses[at + 1] ?? 0, addresses[at + 2] ?? 0);
      runs.add(slot, collective, batch, offset + next + i, request[1], request[2]);
    }
    queues.publish();
    pending.next = next + written;
    if (written > 0 && queues.hasSleepers()) this.wakeEngine();
  }

  /** Buffers may have been detached while their run waited. @returns how many are ready, and what ails the one after. */
  private prepareAgain({ requests, next }: Pending, limit: number): { ready: number; failure: unknown } {
    for (let i = 0; i < limit; i += 1) {
      const request = requests[next + i];
      if (request === undefined) return { ready: i, failure: undefined };
      const [collective, send, recv] = request;
      try {
        registrationOf(collective).prepare(send, recv, this.addresses, i * runAddressWords);
      } catch (failure) {
        return { ready: i, failure };
      }
    }
    return { ready: limit, failure: undefined };
  }

  private refuse(pending: Pending, failure: unknown): void {
    const request = pending.requests[pending.next];
    if (request === undefined) return;
    const position = pending.offset + pending.next;
    pending.next += 1;
    registrationOf(request[0]).issuedRuns -= 1;
    completeRun(pending.batch, request[0], position, failure);
  }
}

function notRegistered(collective: RegisteredCollective | undefined): InvalidArgumentError {
  return new InvalidArgumentError("collective", collective?.name ?? collective, "a collective that this rank registered");
}
