import { type InspectOptions, inspect } from "node:util";
import { type Collective, checkOptions, type DataType, type OptionNames, type ReduceOp } from "@dfccl/primitives";
import { checkSignal } from "./abort-signal.js";
import type { Batch, Rank, RegisteredCollective, RunOptions } from "./api.js";
import type { Backend, CollectiveBuffer } from "./backend.js";
import { CollectiveAbortedError, CollectiveTimeoutError, EngineError } from "./errors.js";
import { callNative } from "./native-addon/native-error.js";
import type { MemberProgress } from "./native-addon/native-reports.js";
import type { NativeWorld } from "./native-addon/native-world.js";
import type { Registration } from "./registration.js";
import { summary } from "./summary.js";
import { checkTimeout, within } from "./timeout.js";

const driveMicros = 50;

const runOptionNames: OptionNames<RunOptions> = { timeoutMs: true, signal: true, count: true };

/** @internal What the engine knows a collective by; whatever else stands for one throws. */
export let registrationOf: (collective: RegisteredCollective) => Registration;
/** @internal As unregister(), of a signature that may be used again: its next run follows the last one. */
export let leaveForNow: (collective: RegisteredCollective) => void;
/** @internal */
export let isRegisteredCollective: (value: unknown) => value is RegisteredCollective;

/** The class behind {@link RegisteredCollective}. */
export class LocalCollective implements RegisteredCollective {
  readonly id: number;
  readonly collective: Collective;
  readonly dataType: DataType;
  readonly op: ReduceOp;
  readonly count: number;
  readonly countPerRun: boolean;
  readonly root: number;
  readonly ranks: readonly number[];
  readonly priority: number;
  readonly member: number;
  readonly #own: Registration;

  static {
    registrationOf = (collective) => (collective as LocalCollective).#own;
    leaveForNow = (collective) => (collective as LocalCollective).#leave(true);
    isRegisteredCollective = (value): value is LocalCollective => typeof value === "object" && value !== null && #own in value;
  }

  /** @internal */
  constructor(
    readonly rank: Rank<Backend>,
    registration: Registration,
  ) {
    const { facts } = registration;
    this.#own = registration;
    this.id = facts.id;
    this.collective = facts.collective;
    this.dataType = facts.dataType;
    this.op = facts.op;
    this.count = facts.count;
    this.countPerRun = facts.countPerRun;
    this.root = facts.root;
    this.ranks = facts.ranks;
    this.priority = facts.priority;
    this.member = registration.member;
    Object.freeze(this);
  }

  get name(): string {
    return this.#own.name;
  }

  /** What console.log() shows. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { id, collective, dataType, op, count, countPerRun, root, ranks, priority, rank } = this;
    const perRun = countPerRun ? { countPerRun } : {};
    const facts = { id, collective, dataType, op, count, ...perRun, root, ranks, priority, rank: rank.number };
    return summary("RegisteredCollective", facts, options);
  }

  async run(send?: CollectiveBuffer | null, recv?: CollectiveBuffer | null, options: RunOptions = {}): Promise<void> {
    checkOptions("options", options, runOptionNames, "an object such as { timeoutMs: 5000 }");
    const { timeoutMs, signal, count } = options;
    checkTimeout(timeoutMs);
    checkSignal(signal);
    if (signal?.aborted) throw new CollectiveAbortedError(this.name, { cause: signal.reason });
    const registration = this.#own;
    const run = registration.issuedRuns;
    const batch = this.rank.submit([[this, send, recv, count]]);
    if (timeoutMs === undefined && signal === undefined) return batch;

    if (signal !== undefined) this.#abortBy(signal, batch);
    try {
      await (timeoutMs === undefined ? batch : within(timeoutMs, batch, () => this.#timeoutOf(timeoutMs, run)));
    } catch (error) {
      throw signal?.aborted && error instanceof CollectiveAbortedError
        ? new CollectiveAbortedError(this.name, { cause: signal.reason })
        : error;
    }
  }

  /** Until the run is over, which its timeout doesn't end. */
  #abortBy(signal: AbortSignal, batch: Batch): void {
    const onAbort = (): void => {
      if (batch.pending === 0 || !this.#own.isOpen) return;
      try {
        this.abort();
      } catch {
        // Nobody hears it here: what an event's listener throws ends the process. The run fails of whatever has struck its engine.
      }
    };
    const stop = (): void => signal.removeEventListener("abort", onAbort);
    signal.addEventListener("abort", onAbort, { once: true });
    batch.then(stop, stop);
  }

  #timeoutOf(timeoutMs: number, run: number): CollectiveTimeoutError | undefined {
    const registration = this.#own;
    // Without completions of its own, the world may have closed meanwhile; the batch has then been told.
    if (!registration.isOpen) return undefined;
    const record = registration.rank.engine.flightRecorder?.recordTimeout();
    return new CollectiveTimeoutError(this.name, timeoutMs, run, this.explain(), record);
  }

  explain(): readonly MemberProgress[] {
    return this.#ask((native, rank, handle) => native.explain(rank, handle));
  }

  abort(): void {
    this.#ask((native, rank, handle) => native.abort(rank, handle));
    this.#own.rank.engine.pump.kick();
  }

  async quarantine(): Promise<void> {
    this.#own.requireOpen();
    await this.#own.rank.engine.pump.until(() => this.#own.isQuarantineOver());
  }

  memoryBytes(): number {
    return this.#ask((native, rank, handle) => native.memoryUse(rank, handle));
  }

  unregister(): void {
    this.#leave(false);
  }

  #leave(comesBack: boolean): void {
    const registration = this.#own;
    if (!registration.isOpen) return;
    const { rank, handle, issuedRuns, deliveredRuns, name } = registration;
    const inFlight = issuedRuns - deliveredRuns;
    if (inFlight > 0) {
      throw new EngineError("IN_USE", `${name} has ${inFlight} runs in flight.`, "Await them, or abort the collective and await that.", {
        id: registration.facts.id,
        rank: rank.number,
        inFlight,
      });
    }
    // Afterwards nobody could tell when the buffers of aborted runs are free. The engine needs some microseconds for it.
    while (rank.quarantine.has(registration) && !registration.isQuarantineOver()) rank.engine.native.drive(driveMicros);
    rank.quarantine.release();
    callNative(() => rank.engine.native.unregister(rank.number, handle, issuedRuns, comesBack));
    registration.close();
  }

  [Symbol.dispose](): void {
    this.unregister();
  }

  #ask<T>(question: (native: NativeWorld, rank: number, handle: number) => T): T {
    const { rank, handle } = this.#own;
    this.#own.requireOpen();
    return callNative(() => question(rank.engine.native, rank.number, handle));
  }
}
