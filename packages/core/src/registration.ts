import { byteSizeOf, InvalidArgumentError } from "@dfccl/primitives";
import type { CollectiveBuffer } from "./backend.js";
import type { CollectiveFacts } from "./collective-facts.js";
import { type DeviceOwner, isDeviceBuffer, windowOf } from "./device-buffer.js";
import type { Engine } from "./engine.js";
import { ClosedError } from "./errors.js";
import { callNative } from "./native-addon/native-error.js";
import { unmappedWindow } from "./native-addon/native-world.js";
import type { Quarantine, Quarantined } from "./quarantine.js";
import type { RecentBuffers, Remembering } from "./recent-buffers.js";
import { type BufferSegments, checkBuffer, checkDeviceBuffer, checkPlacement, checkReach } from "./run-check.js";
import { bytesOf } from "./view-facts.js";

type Buffer = CollectiveBuffer | undefined | null;

/** Stands for buffers that are held weakly, and is no caller's. */
const letGo = Symbol("let go");

/**
 * Words that say where a run's buffers lie: the address of the one that it sends, of the one that it receives into, their windows
 * as RankQueues.write() takes them, and the count of a run that brings its own.
 */
export const runAddressWords = 4;

/** What a registration needs of its rank. */
export interface RegisteringRank extends DeviceOwner {
  readonly engine: Engine;
  readonly quarantine: Quarantine;
  readonly recent: RecentBuffers;
}

/** What the engine needs of a registered collective: its number there, its runs, and where their buffers lie. */
export class Registration implements Quarantined, Remembering {
  /** "all-reduce 7 on rank 0", for messages. */
  readonly name: string;
  /** What to do after an abort, where it isn't what to do with an id. */
  readonly remedy: string | undefined;
  readonly member: number;
  /** Runs submitted so far, waiting for room or not. */
  issuedRuns = 0;
  /** Of them, those that have ended and been delivered. */
  deliveredRuns = 0;
  /** Of them, those that the engine hasn't been given yet. */
  waitingRuns = 0;
  private isRegistered = true;
  // The buffers that were checked last; none before the first run and after close().
  private isChecked = false;
  private lastSend: Buffer | typeof letGo;
  private lastRecv: Buffer | typeof letGo;
  private weakSend: WeakRef<CollectiveBuffer> | undefined | null;
  private weakRecv: WeakRef<CollectiveBuffer> | undefined | null;
  private lastSendBytes = 0;
  private lastRecvBytes = 0;
  private lastSendAddress = 0;
  private lastRecvAddress = 0;
  private lastWindows = 0;
  private lastCount: number | undefined;

  constructor(
    readonly rank: RegisteringRank,
    /** The engine's number for it. */
    readonly handle: number,
    readonly facts: CollectiveFacts,
    private readonly segments: BufferSegments,
    private readonly program: {
      readonly inPlace: boolean;
      readonly outOfPlace: boolean;
      readonly usesDirect: boolean;
      readonly staged?: boolean;
    },
    /** Where the collective has no id of the caller's. */
    matched?: { readonly name: string; readonly remedy: string },
  ) {
    this.name = matched?.name ?? `${facts.collective} ${facts.id} on rank ${rank.number}`;
    this.remedy = matched?.remedy;
    this.member = facts.ranks.indexOf(rank.number);
  }

  /** Elements of the buffers of a run that brings no count. */
  get lengths(): { readonly send: number; readonly recv: number } {
    return this.lengthsOf(this.facts.count);
  }

  /** Whether it is registered, in a world that is open. */
  get isOpen(): boolean {
    return this.isRegistered && this.rank.engine.isOpen;
  }

  /** Whether the buffers must lie where other processes reach them. */
  get needsReach(): boolean {
    return this.program.usesDirect && this.rank.engine.window !== undefined;
  }

  requireOpen(): void {
    this.rank.engine.requireOpen();
    if (!this.isRegistered) throw new ClosedError(this.name);
  }

  /** Its first run comes behind those that it had before it was forgotten. @pre it has had none yet. */
  follow(runs: number): void {
    this.issuedRuns = runs;
    this.deliveredRuns = runs;
  }

  /** It has been unregistered. */
  close(): void {
    this.isRegistered = false;
    this.rank.recent.drop(this);
    this.forgetBuffers();
  }

  letGo(): void {
    if (this.lastSend === letGo || this.lastRecv === letGo) return;
    this.weakSend = weakly(this.lastSend);
    this.weakRecv = weakly(this.lastRecv);
    this.lastSend = letGo;
    this.lastRecv = letGo;
  }

  private forgetBuffers(): void {
    this.isChecked = false;
    this.lastSend = undefined;
    this.lastRecv = undefined;
    this.weakSend = undefined;
    this.weakRecv = undefined;
  }

  isQuarantineOver(): boolean {
    return callNative(() => this.rank.engine.native.isQuarantineOver(this.rank.number, this.handle));
  }

  /**
   * Checks the buffers of one run.
   * @param count - that it brings, if it does.
   * @param addresses - where the run's words go, from `at` on: the caller's, so that the hot path makes no objects.
   */
  prepare(send: Buffer, recv: Buffer, count: number | undefined, addresses: Float64Array, at: number): void {
    // The same buffers again, as in a training loop. A detached one has no bytes left, so it doesn't pass for the same.
    const isHeld = send === this.lastSend && recv === this.lastRecv;
    const isKnown = this.isChecked && count === this.lastCount && (isHeld || this.isLetGo(send, recv));
    if (!isKnown || bytesOfBuffer(send) !== this.lastSendBytes || bytesOfBuffer(recv) !== this.lastRecvBytes) this.renew(send, recv, count);
    addresses[at] = this.lastSendAddress;
    addresses[at + 1] = this.lastRecvAddress;
    addresses[at + 2] = this.lastWindows;
    addresses[at + 3] = count ?? (this.facts.countPerRun ? this.facts.count : 0);
  }

  private isLetGo(send: Buffer, recv: Buffer): boolean {
    return this.lastSend === letGo && isWeakly(this.weakSend, send) && isWeakly(this.weakRecv, recv);
  }

  private renew(send: Buffer, recv: Buffer, count: number | undefined): void {
    this.rank.recent.drop(this);
    this.forgetBuffers();
    this.check(send, recv, count);
    // One that isn't mapped yet may be by the next run.
    if (this.isAnyUnmapped()) return;
    this.isChecked = true;
    this.lastSend = send;
    this.lastRecv = recv;
    this.lastCount = count;
    this.lastSendBytes = bytesOfBuffer(send);
    this.lastRecvBytes = bytesOfBuffer(recv);
    this.rank.recent.note(this, send, recv);
  }

  private lengthsOf(count: number): { readonly send: number; readonly recv: number } {
    return { send: this.segments.send * count, recv: this.segments.recv * count };
  }

  private checkCount(count: number | undefined): number {
    const { countPerRun, count: most } = this.facts;
    if (count === undefined) return most;
    if (!countPerRun) throw new InvalidArgumentError("count", count, `nothing: ${this.name} has one for all its runs, without countPerRun`);
    if (!Number.isInteger(count) || count < 0 || count > most) {
      throw new InvalidArgumentError("count", count, `a whole number from 0 to ${most}, which ${this.name} was registered with`);
    }
    return count;
  }

  private check(send: Buffer, recv: Buffer, count: number | undefined): void {
    this.requireOpen();
    const { name, rank } = this;
    const lengths = this.lengthsOf(this.checkCount(count));
    const { dataType } = this.facts;
    const { window, backend } = rank.engine;
    const check = backend === "cuda" ? checkDeviceBuffer : checkBuffer;
    const sendAddress = check(name, "send", send, dataType, lengths.send, rank);
    const recvAddress = check(name, "recv", recv, dataType, lengths.recv, rank);
    const elementBytes = byteSizeOf(dataType);
    if (this.program.usesDirect && window !== undefined) {
      checkReach(name, "send", sendAddress, lengths.send * elementBytes, window);
      checkReach(name, "recv", recvAddress, lengths.recv * elementBytes, window);
    }
    checkPlacement(
      name,
      { address: sendAddress, bytes: lengths.send * elementBytes },
      { address: recvAddress, bytes: lengths.recv * elementBytes },
      this.member,
      this.program,
    );
    this.lastSendAddress = sendAddress;
    this.lastRecvAddress = recvAddress;
    const isStaged = this.program.staged === true;
    this.lastWindows = lengths.send === 0 ? 0 : windowOfBuffer(send, isStaged);
    if (lengths.recv !== 0) this.lastWindows += windowOfBuffer(recv, isStaged) * 0x10000;
  }

  private isAnyUnmapped(): boolean {
    const windows = this.lastWindows;
    return windows !== 0 && (windows % 0x10000 === unmappedWindow || Math.floor(windows / 0x10000) === unmappedWindow);
  }
}

function windowOfBuffer(buffer: Buffer, isStaged: boolean): number {
  return isDeviceBuffer(buffer) ? windowOf(buffer, isStaged) : 0;
}

/** @param buffer - where the rank needs none, anything. */
function weakly(buffer: Buffer): WeakRef<CollectiveBuffer> | undefined | null {
  if (buffer === null) return null;
  return ArrayBuffer.isView(buffer) || isDeviceBuffer(buffer) ? new WeakRef(buffer) : undefined;
}

function isWeakly(weak: WeakRef<CollectiveBuffer> | undefined | null, buffer: Buffer): boolean {
  return weak === undefined || weak === null ? weak === buffer : buffer !== undefined && weak.deref() === buffer;
}

const freed = -1;

/** Not `view.byteLength`, which may be a getter of the caller's. Of memory of a GPU that was freed: of none. */
function bytesOfBuffer(buffer: Buffer): number {
  return isDeviceBuffer(buffer) ? (buffer.isOpen ? buffer.byteLength : freed) : bytesOf(buffer);
}
