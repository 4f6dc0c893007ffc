import { type InspectOptions, inspect } from "node:util";
import { byteSizeOf, type Collective, checkOptions, type DataType, type OptionNames, type ReduceOp } from "@dfccl/primitives";
import { checkSignal } from "./abort-signal.js";
import type { Backend, CollectiveBuffer } from "./backend.js";
import { DeviceBuffer } from "./device-buffer.js";
import { ClosedError, CollectiveAbortedError, CollectiveTimeoutError, EngineError } from "./errors.js";
import { callNative } from "./native-addon/native-error.js";
import type { MemberProgress } from "./native-addon/native-world.js";
import type { Rank } from "./rank.js";
import { type BufferLengths, checkBuffer, checkDeviceBuffer, checkPlacement, checkReach } from "./run-check.js";
import { summary } from "./summary.js";
import { checkTimeout } from "./timeout.js";

const driveMicros = 50;

export interface RunOptions {
  /** Reject after so many milliseconds. The run stays in flight: it completes when the missing ranks come. */
  readonly timeoutMs?: number;
  /** Aborting the signal aborts the collective on all ranks. */
  readonly signal?: AbortSignal;
}

const runOptionNames: OptionNames<RunOptions> = { timeoutMs: true, signal: true };

/** What was registered, with defaults filled in. */
export interface CollectiveFacts {
  readonly id: number;
  readonly collective: Collective;
  readonly dataType: DataType;
  readonly op: ReduceOp;
  /** Elements of a segment. */
  readonly count: number;
  readonly root: number;
  readonly ranks: readonly number[];
  readonly priority: number;
}

/** A collective that one rank has registered; made by `rank.register()`. Runs of it execute in the order of submission. */
export class RegisteredCollective implements CollectiveFacts, Disposable {
  readonly id: number;
  readonly collective: Collective;
  readonly dataType: DataType;
  readonly op: ReduceOp;
  readonly count: number;
  readonly root: number;
  readonly ranks: readonly number[];
  readonly priority: number;
  /** This rank's position in `ranks`. */
  readonly member: number;
  /** @internal Runs submitted so far, waiting for room or not. */
  issuedRuns = 0;
  /** @internal Of them, those that have ended and been delivered. */
  deliveredRuns = 0;
  /** @internal */
  isOpen = true;
  /** @internal Addresses of the run being submitted: set by prepare(), so that the hot path makes no objects. */
  sendAddress = 0;
  /** @internal */
  recvAddress = 0;
  /** @internal As RankQueues.write() takes them. */
  windows = 0;
  // The buffers that were checked last; none before the first run and after unregister().
  private isChecked = false;
  private lastSend: CollectiveBuffer | undefined | null;
  private lastRecv: CollectiveBuffer | undefined | null;
  private lastSendBytes = 0;
  private lastRecvBytes = 0;

  /** @internal */
  constructor(
    readonly rank: Rank<Backend>,
    /** @internal The engine's number for it. */
    readonly handle: number,
    facts: CollectiveFacts,
    private readonly lengths: BufferLengths,
    private readonly program: { readonly inPlace: boolean; readonly outOfPlace: boolean; readonly usesDirect: boolean },
  ) {
    this.id = facts.id;
    this.collective = facts.collective;
    this.dataType = facts.dataType;
    this.op = facts.op;
    this.count = facts.count;
    this.root = facts.root;
    this.ranks = facts.ranks;
    this.priority = facts.priority;
    this.member = facts.ranks.indexOf(rank.number);
  }

  /** "all-reduce 7 on rank 0", for messages. */
  get name(): string {
    return `${this.collective} ${this.id} on rank ${this.rank.number}`;
  }

  /** What console.log() shows. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { id, collective, dataType, op, count, root, ranks, priority, rank } = this;
    return summary("RegisteredCollective", { id, collective, dataType, op, count, root, ranks, priority, rank: rank.number }, options);
  }

  /**
   * Submits one run.
   * @param send - elements to send, as many as the collective takes; leave out where this rank sends none.
   * @param recv - where the result goes; the same view again for in place.
   * @returns when the result is there and no other rank touches these buffers any more.
   * @throws {BufferError} at once; {@link CollectiveTimeoutError}, {@link CollectiveAbortedError}, DeadlockError later.
   */
  async run(send?: CollectiveBuffer | null, recv?: CollectiveBuffer | null, options: RunOptions = {}): Promise<void> {
    checkOptions("options", options, runOptionNames, "an object such as { timeoutMs: 5000 }");
    const { timeoutMs, signal } = options;
    checkTimeout(timeoutMs);
    checkSignal(signal);
    if (signal?.aborted) throw new CollectiveAbortedError(this.name, { cause: signal.reason });
    const run = this.issuedRuns;
    const batch = this.rank.submit([[this, send, recv]]);
    if (timeoutMs === undefined && signal === undefined) return batch;

    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      if (this.isOpen && this.rank.world.isOpen) this.abort();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        batch.then(resolve, reject);
        if (timeoutMs === undefined) return;
        timer = setTimeout(() => {
          // Without completions of its own, the world may have closed meanwhile; the batch has then been told.
          if (!this.isOpen || !this.rank.world.isOpen) return;
          const record = this.rank.world.flightRecorder?.recordTimeout();
          reject(new CollectiveTimeoutError(this.name, timeoutMs, run, this.explain(), record));
        }, timeoutMs);
      });
    } catch (error) {
      throw signal?.aborted && error instanceof CollectiveAbortedError
        ? new CollectiveAbortedError(this.name, { cause: signal.reason })
        : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Which ranks have registered it, and how many runs each has submitted and finished. */
  explain(): readonly MemberProgress[] {
    this.requireOpen();
    return callNative(() => this.rank.world.native.explain(this.rank.number, this.handle));
  }

  /**
   * Gives the collective up on all ranks, at once: runs in flight and later ones fail with {@link CollectiveAbortedError}
   * until every rank has unregistered and registered it again. Buffers stay in use until {@link quarantine} resolves.
   */
  abort(): void {
    this.requireOpen();
    callNative(() => this.rank.world.native.abort(this.rank.number, this.handle));
    this.rank.world.pump.kick();
  }

  /** Resolves when, after an abort, no rank touches the buffers any more. */
  async quarantine(): Promise<void> {
    this.requireOpen();
    await this.rank.world.pump.until(() => this.isQuarantineOver());
  }

  /** Bytes that the registration takes on this rank, connectors and scratch memory included. */
  memoryBytes(): number {
    this.requireOpen();
    return callNative(() => this.rank.world.native.memoryUse(this.rank.number, this.handle));
  }

  /**
   * Frees what the registration holds on this rank. Twice is fine.
   * @throws {EngineError} IN_USE while runs are in flight or their completions aren't delivered.
   */
  unregister(): void {
    if (!this.isOpen || !this.rank.world.isOpen) return;
    const inFlight = this.issuedRuns - this.deliveredRuns;
    if (inFlight > 0) {
      throw new EngineError(
        "IN_USE",
        `${this.name} has ${inFlight} runs in flight.`,
        "Await them, or abort the collective and await that.",
        {
          id: this.id,
          rank: this.rank.number,
          inFlight,
        },
      );
    }
    // Afterwards nobody could tell when the buffers of aborted runs are free. The engine needs some microseconds for it.
    while (this.rank.quarantine.has(this) && !this.isQuarantineOver()) this.rank.world.native.drive(driveMicros);
    this.rank.quarantine.release();
    callNative(() => this.rank.world.native.unregister(this.rank.number, this.handle, this.issuedRuns));
    this.isOpen = false;
    this.isChecked = false;
    this.lastSend = undefined;
    this.lastRecv = undefined;
  }

  [Symbol.dispose](): void {
    this.unregister();
  }

  /** @internal Checks the buffers of one run; their addresses are then in sendAddress and recvAddress. */
  prepare(send: CollectiveBuffer | undefined | null, recv: CollectiveBuffer | undefined | null): void {
    // The same buffers again, as in a training loop. A detached one has no bytes left, so it doesn't pass for the same.
    const isKnown = this.isChecked && send === this.lastSend && recv === this.lastRecv;
    if (isKnown && bytesOf(send) === this.lastSendBytes && bytesOf(recv) === this.lastRecvBytes) return;
    this.check(send, recv);
    this.isChecked = true;
    this.lastSend = send;
    this.lastRecv = recv;
    this.lastSendBytes = bytesOf(send);
    this.lastRecvBytes = bytesOf(recv);
  }

  private check(send: CollectiveBuffer | undefined | null, recv: CollectiveBuffer | undefined | null): void {
    this.requireOpen();
    const { name, dataType, lengths } = this;
    const check = this.rank.world.backend === "cuda" ? checkDeviceBuffer : checkBuffer;
    const sendAddress = check(name, "send", send, dataType, lengths.send, this.rank);
    const recvAddress = check(name, "recv", recv, dataType, lengths.recv, this.rank);
    const elementBytes = byteSizeOf(dataType);
    if (this.program.usesDirect && this.rank.world.window !== undefined) {
      checkReach(name, "send", sendAddress, lengths.send * elementBytes, this.rank.world.window);
      checkReach(name, "recv", recvAddress, lengths.recv * elementBytes, this.rank.world.window);
    }
    checkPlacement(
      name,
      { address: sendAddress, bytes: lengths.send * elementBytes },
      { address: recvAddress, bytes: lengths.recv * elementBytes },
      this.member,
      this.program,
    );
    this.sendAddress = sendAddress;
    this.recvAddress = recvAddress;
    this.windows = lengths.send === 0 ? 0 : windowOf(send);
    if (lengths.recv !== 0) this.windows += windowOf(recv) * 0x10000;
  }

  private isQuarantineOver(): boolean {
    return callNative(() => this.rank.world.native.isQuarantineOver(this.rank.number, this.handle));
  }

  private requireOpen(): void {
    this.rank.world.requireOpen();
    if (!this.isOpen) throw new ClosedError(this.name);
  }
}

function windowOf(buffer: CollectiveBuffer | undefined | null): number {
  return buffer instanceof DeviceBuffer ? buffer.window : 0;
}

function bytesOf(view: CollectiveBuffer | undefined | null): number {
  return view === undefined || view === null ? 0 : view.byteLength;
}
