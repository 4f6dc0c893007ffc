import type { Rank, RunRequest } from "../api.js";
import type { Backend, CollectiveBuffer } from "../backend.js";
import { LocalBatch } from "../batch.js";
import { ClosedError, CollectiveAbortedError, CollectiveTimeoutError, EngineError } from "../errors.js";
import { callNative } from "../native-addon/native-error.js";
import { nativeAddon } from "../native-addon/native-world.js";
import type { RankEngine } from "../rank-engine.js";
import { leaveForNow } from "../registered-collective.js";
import { within } from "../timeout.js";
import { AnySource, type OpenReceive } from "./any-source.js";
import type { MatchedCollective } from "./matched-collective.js";
import { MatchedGroup } from "./matched-group.js";
import type { Call, MatchedRun } from "./matched-run.js";
import { registerSignature } from "./register-signature.js";
import type { Signature } from "./signature.js";
import { SignatureTable } from "./signature-table.js";
import { Staging } from "./staging.js";

// Of a rank's places: the rest is left to ids that the caller registers.
const share = 0.75;

type Buffer = CollectiveBuffer | null | undefined;

/** The runs of a rank that are matched by their signature: finds or makes the registration, and hands the run to the engine. */
export class Matching {
  /** All ranks of the world: the first group that there is of them, whenever it is used. */
  readonly world: MatchedGroup;
  readonly table: SignatureTable;
  /** By ranks and name: groups that this rank has made of them. */
  private readonly made = new Map<string, bigint>();
  private groups = 0;
  private readonly receives: AnySource;
  /** Where some ranks are other processes on CPUs. */
  private readonly staging: Staging | undefined;

  constructor(
    readonly rank: Rank<Backend>,
    private readonly own: RankEngine,
  ) {
    const { engine, quarantine } = own;
    const most = Math.max(1, Math.floor(share * engine.collectives));
    this.table = new SignatureTable(
      most,
      (signature, group) => registerSignature(rank, own, signature, group),
      (collective, comesBack) => (comesBack ? leaveForNow(collective) : collective.unregister()),
      quarantine,
    );
    this.staging = engine.window && new Staging(engine.native, engine.window);
    this.receives = new AnySource(own, this.table, (entry, run) =>
      run.half === undefined ? this.submit([entry], [[entry.collective, undefined, run.recv]]) : this.meet(entry, run),
    );
    own.awaited = this.receives;
    this.world = this.makeGroup(engine.allRanks, 0n);
  }

  /** @param ranks - checked. */
  makeGroup(ranks: readonly number[], name: bigint): MatchedGroup {
    const family = `${ranks.join()} ${name}`;
    const ordinal = (this.made.get(family) ?? 0n) + 1n;
    const group = this.membershipIn(ranks, name, ordinal);
    this.made.set(family, ordinal);
    return group;
  }

  /** Of a split, whose name is its alone: so nothing is kept of it when it is gone. */
  makePart(ranks: readonly number[], name: bigint): MatchedGroup {
    return this.membershipIn(ranks, name, 1n);
  }

  private membershipIn(ranks: readonly number[], name: bigint, ordinal: bigint): MatchedGroup {
    const id = nativeAddon().groupId(Uint32Array.from(ranks), name, ordinal);
    this.groups += 1;
    return new MatchedGroup(id, ranks, this.own.number, this.groups);
  }

  /** @throws {EngineError} IN_USE */
  dropGroup(group: MatchedGroup): void {
    if (group.isDropped) return;
    if (this.own.engine.isOpen) {
      const inFlight = this.inFlightOf(group);
      if (inFlight > 0) {
        throw new EngineError(
          "IN_USE",
          `The group has ${inFlight} runs in flight on rank ${this.own.number}.`,
          "Await them, or give them up with abort() and await that, before you drop it.",
          { rank: this.own.number, inFlight },
        );
      }
      this.table.forget(group);
    }
    group.isDropped = true;
  }

  abortGroup(group: MatchedGroup): void {
    this.own.engine.requireOpen();
    group.isAborted = true;
    for (const { collective, inFlight } of this.table.of(group)) if (inFlight !== 0) collective.abort();
    this.own.messages.failAll(this.abortedError(group), group);
    this.receives.failAll(this.abortedError(group), group);
  }

  /** Gives up what is in flight of one signature, on all its members. */
  abortRun(group: MatchedGroup, signature: Signature): void {
    this.table.get(signature, group).collective.abort();
  }

  /** @throws {ClosedError}, {@link CollectiveAbortedError} */
  requireUsable(group: MatchedGroup): void {
    this.own.engine.requireOpen();
    if (group.isDropped) throw new ClosedError("The group");
    if (group.isAborted) throw this.abortedError(group);
  }

  /**
   * Submits one run.
   * @returns when it is over.
   * @throws {BufferError}, {@link EngineError}: nothing was submitted then.
   */
  run(group: MatchedGroup, signature: Signature, send: Buffer, recv: Buffer, timeoutMs: number | undefined): PromiseLike<void> {
    this.requireUsable(group);
    const entry = this.table.get(signature, group);
    const requests: readonly RunRequest[] = [[entry.collective, send, recv]];
    if (timeoutMs === undefined) return this.submit([entry], requests);
    const before = entry.registration.issuedRuns;
    return within(timeoutMs, this.submit([entry], requests), () => this.timeoutOf(timeoutMs, [entry], [before], []));
  }

  /** Submits what a call asks for. @throws as {@link beginAll} */
  begin(call: Call): PromiseLike<void> {
    const [run] = call.runs;
    const isPlain = call.runs.length === 1 && run !== undefined && run.half === undefined && run.received === undefined;
    if (!isPlain) return this.beginAll([call], call.timeoutMs);
    return this.run(call.group, run.signature, run.send, run.recv, call.timeoutMs);
  }

  /**
   * Submits runs of any of this rank's groups that are over together: all of them, or none.
   * @throws {BufferError}, {@link EngineError}, {@link ClosedError}, {@link CollectiveAbortedError}: nothing was submitted then.
   */
  beginAll(calls: readonly Call[], timeoutMs: number | undefined): PromiseLike<void> {
    for (const { group } of calls) this.requireUsable(group);
    const entries: MatchedCollective[] = [];
    const requests: RunRequest[] = [];
    const halves: { entry: MatchedCollective; run: MatchedRun }[] = [];
    const fromAny: { group: MatchedGroup; run: MatchedRun }[] = [];
    try {
      for (const { group, runs } of calls) {
        for (const run of runs) {
          if (run.received !== undefined) {
            this.receives.check(run);
            fromAny.push({ group, run });
            continue;
          }
          const entry = this.table.get(run.signature, group);
          entry.pins += 1;
          if (run.half !== undefined) halves.push({ entry, run });
          else {
            entries.push(entry);
            requests.push([entry.collective, run.send, run.recv]);
          }
        }
      }
      const all = [...entries, ...halves.map(({ entry }) => entry)];
      const before = all.map((entry) => entry.registration.issuedRuns + this.own.messages.countOf(entry.group, entry));
      const whole = this.submit(entries, requests);
      const met = halves.map(({ entry, run }) => this.meet(entry, run));
      const receives = fromAny.map(({ group, run }) => this.receives.add(group, run));
      this.lookForSenders();
      const isPlain = met.length === 0 && receives.length === 0;
      const over = isPlain ? whole : afterAll([whole, ...met, ...receives.map((receive) => receive.over)]);
      if (timeoutMs === undefined) return over;
      return within(timeoutMs, over, () => this.timeoutOf(timeoutMs, all, before, receives));
    } finally {
      for (const entry of entries) entry.pins -= 1;
      for (const { entry } of halves) entry.pins -= 1;
    }
  }

  private meet(entry: MatchedCollective, { half, send, recv }: MatchedRun): Promise<void> {
    const isSend = half === "send";
    const buffer = (isSend ? send : recv) as CollectiveBuffer;
    return new Promise<void>((resolve, reject) => {
      const other = this.own.messages.meet(entry, isSend, { buffer, resolve, reject });
      if (other === undefined) return;
      const [from, to] = isSend ? [buffer, other.buffer] : [other.buffer, buffer];
      try {
        const whole = this.submit([entry], [[entry.collective, from, to]]);
        resolve(whole);
        other.resolve(whole);
      } catch (error) {
        reject(error);
        other.reject(error);
      }
    });
  }

  private inFlightOf(group: MatchedGroup): number {
    let inFlight = this.own.messages.countOf(group) + this.receives.countOf(group);
    for (const entry of this.table.of(group)) inFlight += entry.inFlight;
    return inFlight;
  }

  private lookForSenders(): void {
    if (this.receives.count === 0) return;
    this.receives.look();
    this.own.engine.pump.kick(); // It looks again, in every turn.
  }

  private submit(entries: readonly MatchedCollective[], requests: readonly RunRequest[]): PromiseLike<void> {
    const staged = this.staging?.bringIntoReach(entries, requests);
    try {
      const batch = this.queue(staged?.requests ?? requests);
      return staged === undefined ? batch : batch.then(() => staged.finish());
    } catch (error) {
      staged?.giveBack();
      throw error;
    }
  }

  private queue(requests: readonly RunRequest[]): LocalBatch {
    const runs = this.own.check(requests);
    const batch = new LocalBatch(runs.count, undefined);
    if (runs.count > 0) this.own.submit(batch, runs);
    return batch;
  }

  /**
   * @param runs - `[entry]`: how many of it had been submitted before.
   * @returns undefined: all of it is over.
   */
  private timeoutOf(
    timeoutMs: number,
    entries: readonly MatchedCollective[],
    runs: readonly number[],
    receives: readonly OpenReceive[],
  ): CollectiveTimeoutError | undefined {
    // Without completions of its own, the world may have closed meanwhile; all have been told then.
    if (!this.own.engine.isOpen) return undefined;
    // What is over may have been forgotten meanwhile, and nobody waits for it.
    const open = [...entries.entries()].filter(([, entry]) => this.isInFlight(entry));
    const awaited = receives.filter((receive) => this.receives.isWaiting(receive) || this.isInFlight(receive.taken?.entry));
    if (open.length === 0 && awaited.length === 0) return undefined;
    const record = this.own.engine.flightRecorder?.recordTimeout();
    const ofEntries = open.map(([i, entry]) => {
      // Who hasn't used the signature yet has submitted nothing of it.
      const members = entry.collective.explain().map((member) => ({ ...member, registered: true }));
      const { native } = this.own.engine;
      const others = callNative(() => native.otherCalls(this.own.number, entry.registration.handle)).filter(({ rank }) =>
        members.some((member) => member.rank === rank && member.submitted <= (runs[i] ?? 0)),
      );
      return new CollectiveTimeoutError(entry.registration.name, timeoutMs, runs[i] ?? 0, members, record, others);
    });
    const errors = [...ofEntries, ...awaited.map((receive) => this.receives.timeoutOf(receive, timeoutMs, record))];
    return errors.find(({ facts }) => (facts.missing as readonly number[]).length > 0) ?? errors[0];
  }

  private isInFlight(entry: MatchedCollective | undefined): boolean {
    return entry !== undefined && entry.inFlight + this.own.messages.countOf(entry.group, entry) !== 0;
  }

  private abortedError({ size }: MatchedGroup): CollectiveAbortedError {
    return new CollectiveAbortedError(`The group of ${size} ranks`, { remedy: "Drop it on every rank, and make another one." });
  }
}

/** Waits for all of them, and fails with the first failure. */
async function afterAll(all: readonly PromiseLike<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(all)) if (result.status === "rejected") throw result.reason;
}
