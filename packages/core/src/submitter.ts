import { checkList, InvalidArgumentError, readArgument } from "@dfccl/primitives";
import type { RegisteredCollective, RunRequest } from "./api.js";
import { completeRun, failBatch, type LocalBatch } from "./batch.js";
import type { RankQueues } from "./rank-queues.js";
import { isRegisteredCollective, registrationOf } from "./registered-collective.js";
import { type RegisteringRank, type Registration, runAddressWords } from "./registration.js";
import type { RunTable } from "./run-table.js";
import { type WaitingRun, WaitingRuns } from "./waiting-runs.js";

/** Runs that are written at a time, of those that have waited. */
const mostAtOnce = 64;

/** Writes a rank's runs into its queue, and keeps what doesn't fit until there is room. */
export class Submitter {
  private readonly backlog = new WaitingRuns();
  // Of it, those that are about to be written.
  private readonly chosen: WaitingRun[] = [];
  /** Runs wait until the daemon has read entries, of which nobody is told. */
  awaitsEntries = false;
  // Where the buffers of the runs lie that are being submitted. Kept between calls, so that a submission makes no objects.
  private addresses = new Float64Array(mostAtOnce * runAddressWords);

  constructor(
    private readonly queues: RankQueues,
    private readonly runs: RunTable,
    private readonly wakeEngine: () => void,
  ) {}

  /** Runs that wait for room. */
  get waiting(): number {
    return this.backlog.size;
  }

  /**
   * @param rank - whose collectives they have to be.
   * @throws {InvalidArgumentError}, {BufferError}, {ClosedError} before anything is submitted.
   */
  check(requests: readonly RunRequest[], rank: RegisteringRank): void {
    // A number has no length, and a batch of so many runs would never end.
    const expected = "a list of [collective, send, recv]";
    checkList("requests", requests, expected);
    readArgument("requests", expected, () => this.prepareAll(requests, rank));
  }

  private prepareAll(requests: readonly RunRequest[], rank: RegisteringRank): void {
    const count = requests.length;
    if (count * runAddressWords > this.addresses.length) this.addresses = new Float64Array(2 * count * runAddressWords);
    const { addresses } = this;
    for (let i = 0; i < count; i += 1) {
      const request = requests[i];
      const collective = request?.[0];
      if (!request || !isRegisteredCollective(collective)) throw notRegistered(collective);
      const registration = registrationOf(collective);
      if (registration.rank !== rank) throw notRegistered(collective);
      registration.prepare(request[1], request[2], request[3], addresses, i * runAddressWords);
    }
  }

  /** @pre check(requests) has just passed. */
  submit(batch: LocalBatch, requests: readonly RunRequest[]): void {
    for (const [collective] of requests) registrationOf(collective).issuedRuns += 1;
    const { queues, backlog } = this;
    if (backlog.size === 0 && queues.room(requests.length) === requests.length) {
      this.write(batch, requests);
      return;
    }
    for (const [position, [collective, send, recv, count]] of requests.entries()) {
      // Copied, because the caller may use the lists again for his next submission.
      backlog.add({ batch, registration: registrationOf(collective), request: [collective, send, recv, count], position });
    }
    this.flush();
  }

  /**
   * Submits what waited, as far as there is room now: the oldest while there are slots that all ids share, and the first of
   * each id that has nothing under way.
   */
  flush(): void {
    const failures: [run: WaitingRun, failure: unknown][] = [];
    while (this.backlog.size !== 0 && this.choose(failures)) this.writeChosen();
    this.awaitsEntries = this.backlog.size !== 0 && this.queues.freeEntries() === 0;
    // The last thing, because callbacks may submit again.
    for (const [{ batch, registration, request, position }, failure] of failures) {
      registration.issuedRuns -= 1;
      completeRun(batch, request[0], position, failure);
    }
  }

  /** Fails what waits. */
  failAll(error: unknown): void {
    for (const { batch } of this.backlog.takeAll()) failBatch(batch, error);
  }

  /** Writes all runs of a batch. Their addresses lie in `addresses`. */
  private write(batch: LocalBatch, requests: readonly RunRequest[]): void {
    const { queues, runs, addresses } = this;
    queues.begin();
    for (let i = 0; i < requests.length; i += 1) {
      const request = requests[i];
      if (request === undefined) break;
      const at = i * runAddressWords;
      const { handle } = registrationOf(request[0]);
      const slot = queues.write(handle, addresses[at] ?? 0, addresses[at + 1] ?? 0, addresses[at + 2] ?? 0, addresses[at + 3] ?? 0);
      runs.add(slot, request[0], batch, i, request[1], request[2]);
    }
    this.publish();
  }

  private writeChosen(): void {
    const { queues, runs, addresses, chosen } = this;
    queues.begin();
    for (let i = 0; i < chosen.length; i += 1) {
      const run = chosen[i];
      if (run === undefined) break;
      const { batch, registration, request, position } = run;
      const at = i * runAddressWords;
      const { handle } = registration;
      const slot = queues.write(handle, addresses[at] ?? 0, addresses[at + 1] ?? 0, addresses[at + 2] ?? 0, addresses[at + 3] ?? 0);
      runs.add(slot, request[0], batch, position, request[1], request[2]);
    }
    this.publish();
    chosen.length = 0;
  }

  private publish(): void {
    this.queues.publish();
    if (this.queues.hasSleepers()) this.wakeEngine();
  }

  /** Takes out of the backlog what may begin now. @returns whether there was any. */
  private choose(failures: [run: WaitingRun, failure: unknown][]): boolean {
    const { queues, backlog, chosen } = this;
    const entries = Math.min(queues.freeEntries(), mostAtOnce);
    const shared = Math.min(queues.freeSharedSlots(), entries);
    while (chosen.length < shared && backlog.oldest !== undefined) this.take(backlog.oldest.registration, failures);
    if (!queues.ownPlaces || shared === entries) return chosen.length !== 0;
    for (const registration of backlog.registrations()) {
      if (chosen.length === entries) break;
      if (registration.issuedRuns === registration.deliveredRuns + registration.waitingRuns) this.take(registration, failures);
    }
    return chosen.length !== 0;
  }

  /** Buffers may have been detached while their run waited. */
  private take(registration: Registration, failures: [run: WaitingRun, failure: unknown][]): void {
    const run = this.backlog.take(registration);
    if (run === undefined) return;
    try {
      const [, send, recv, count] = run.request;
      registration.prepare(send, recv, count, this.addresses, this.chosen.length * runAddressWords);
      this.chosen.push(run);
    } catch (failure) {
      failures.push([run, failure]);
    }
  }
}

function notRegistered(collective: RegisteredCollective | undefined): InvalidArgumentError {
  return new InvalidArgumentError("collective", collective?.name ?? collective, "a collective that this rank registered");
}
