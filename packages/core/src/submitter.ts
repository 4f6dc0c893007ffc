import { checkList, readArgument } from "@dfccl/primitives";
import type { RunRequest } from "./api.js";
import { completeRun, failBatch, type LocalBatch } from "./batch.js";
import { PreparedRuns } from "./prepared-runs.js";
import type { RankQueues } from "./rank-queues.js";
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
  // Kept between calls, so that a submission makes no objects.
  private spare: PreparedRuns | undefined = new PreparedRuns();
  // Where the buffers of those lie that are about to be written.
  private readonly addresses = new Float64Array(mostAtOnce * runAddressWords);

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
  check(requests: readonly RunRequest[], rank: RegisteringRank): PreparedRuns {
    // A number has no length, and a batch of so many runs would never end.
    const expected = "a list of [collective, send, recv]";
    checkList("requests", requests, expected);
    const runs = this.spare ?? new PreparedRuns();
    this.spare = undefined; // A getter of the caller's may submit as well.
    readArgument("requests", expected, () => runs.read(requests));
    runs.check(rank);
    return runs;
  }

  /** @param prepared - what check() has just returned; used up. */
  submit(batch: LocalBatch, prepared: PreparedRuns): void {
    const { queues, backlog } = this;
    const { count } = prepared;
    if (backlog.size === 0 && queues.room(count) === count) this.write(batch, prepared);
    else {
      this.keep(batch, prepared);
      this.flush();
    }
    prepared.clear();
    this.spare = prepared;
  }

  private keep(batch: LocalBatch, { count, collectives, registrations, sends, recvs, counts }: PreparedRuns): void {
    for (let position = 0; position < count; position += 1) {
      const collective = collectives[position];
      const registration = registrations[position];
      if (collective === undefined || registration === undefined) break;
      registration.issuedRuns += 1;
      this.backlog.add({ batch, registration, request: [collective, sends[position], recvs[position], counts[position]], position });
    }
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

  /** Writes all runs of a batch. */
  private write(batch: LocalBatch, { count, collectives, registrations, sends, recvs, addresses }: PreparedRuns): void {
    const { queues, runs } = this;
    queues.begin();
    for (let i = 0; i < count; i += 1) {
      const collective = collectives[i];
      const registration = registrations[i];
      if (collective === undefined || registration === undefined) break;
      registration.issuedRuns += 1;
      const at = i * runAddressWords;
      const { handle } = registration;
      const slot = queues.write(handle, addresses[at] ?? 0, addresses[at + 1] ?? 0, addresses[at + 2] ?? 0, addresses[at + 3] ?? 0);
      runs.add(slot, collective, batch, i, sends[i], recvs[i]);
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
