import type { RunRequest } from "./api.js";
import type { LocalBatch } from "./batch.js";
import type { PumpedRank } from "./completion-pump.js";
import { type DeviceBuffer, isDeviceBuffer, rootOf } from "./device-buffer.js";
import type { Engine } from "./engine.js";
import { CountMismatchError, givenUp } from "./errors.js";
import { SelfMessages } from "./matching/self-messages.js";
import { callNative } from "./native-addon/native-error.js";
import type { PreparedRuns } from "./prepared-runs.js";
import { Quarantine } from "./quarantine.js";
import { cqeMismatched, RankQueues } from "./rank-queues.js";
import { RecentBuffers } from "./recent-buffers.js";
import type { RegisteringRank, Registration } from "./registration.js";
import { RunTable } from "./run-table.js";
import { Submitter } from "./submitter.js";

/** What the engine's side needs of a rank's receives from any member. */
interface AwaitedSenders {
  /** Receives that nobody has sent for. */
  readonly count: number;
  /** Receives what somebody has sent. @returns how many. */
  look(): number;
  failAll(error: unknown): void;
}

/** One rank's side of the engine: its queues, and the runs in them. */
export class RankEngine implements PumpedRank, RegisteringRank {
  readonly queues: RankQueues;
  readonly quarantine: Quarantine;
  readonly recent = new RecentBuffers();
  readonly messages = new SelfMessages();
  /** Once the rank's calls are matched. */
  awaited: AwaitedSenders | undefined;
  private readonly runs: RunTable;
  private readonly submitter: Submitter;

  constructor(
    readonly engine: Engine,
    readonly number: number,
  ) {
    const { native } = engine;
    this.queues = new RankQueues(native.memory(number));
    this.quarantine = new Quarantine();
    this.runs = new RunTable(this.queues, this.quarantine, (registration, status) =>
      callNative(() => this.whyFailed(registration, status)),
    );
    this.submitter = new Submitter(this.queues, this.runs, () => native.ring());
    engine.ranks.push(this);
  }

  /** @throws {InvalidArgumentError}, {BufferError}, {ClosedError} before anything is submitted. */
  check(requests: readonly RunRequest[]): PreparedRuns {
    return this.submitter.check(requests, this);
  }

  /** @param runs - what check() has just returned; used up. */
  submit(batch: LocalBatch, runs: PreparedRuns): void {
    this.submitter.submit(batch, runs);
    this.engine.pump.kick();
  }

  get pendingRuns(): number {
    return this.runs.size + this.submitter.waiting + (this.awaited?.count ?? 0);
  }

  uses(root: DeviceBuffer): boolean {
    const isOfIt = (buffer: unknown): boolean => isDeviceBuffer(buffer) && rootOf(buffer) === root;
    return this.runs.someBuffer(isOfIt) || this.quarantine.someBuffer(isOfIt);
  }

  get isWatching(): boolean {
    return !this.quarantine.isEmpty || this.submitter.awaitsEntries || (this.awaited?.count ?? 0) !== 0;
  }

  /** Delivers completions and submits what waited for the room that they made. @returns how many. */
  deliver(): number {
    const delivered = this.runs.deliver();
    // A callback may have closed the world.
    if (!this.engine.isOpen) return delivered;
    if (!this.quarantine.isEmpty) this.quarantine.release();
    this.submitter.flush();
    const { awaited } = this;
    return awaited === undefined || awaited.count === 0 ? delivered : delivered + awaited.look();
  }

  failAll(error: unknown, isEngineStopped: boolean): void {
    this.runs.failAll(error, isEngineStopped);
    this.submitter.failAll(error);
    this.messages.failAll(error);
    this.awaited?.failAll(error);
    if (!isEngineStopped) return;
    this.quarantine.clear();
    this.recent.clear();
  }

  private whyFailed({ name, facts: { ranks }, handle, remedy }: Registration, status: number): Error {
    const { number } = this;
    const { native } = this.engine;
    if (status === cqeMismatched) {
      const counts = native.mismatchedCounts(number, handle).map((count, member) => ({ rank: ranks[member] ?? 0, count }));
      return new CountMismatchError(name, counts);
    }
    return givenUp({ name, ranks, remedy }, native.lostRanks(number, handle), native.whyAborted(number, handle));
  }
}
