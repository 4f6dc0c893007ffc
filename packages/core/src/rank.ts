import {
  collectiveCode,
  dataTypeCode,
  InvalidArgumentError,
  isCollective,
  isDataType,
  isReduceOp,
  reduceOpCode,
  typedArrayOf,
  type Collective,
  type DataType,
  type Program,
  type ReduceOp,
  type TypedArrayOf,
} from "@dfccl/primitives";
import { Batch, type BatchOptions } from "./batch.js";
import { type RankCounters, readCounters } from "./counters.js";
import { callNative } from "./native-addon/native-error.js";
import { nativeAddon } from "./native-addon/native-world.js";
import { chooseProgram, encodeOnce } from "./program-choice.js";
import { RankQueues } from "./rank-queues.js";
import { RegisteredCollective } from "./registered-collective.js";
import { bufferLengths } from "./run-check.js";
import { RunTable } from "./run-table.js";
import type { World } from "./world.js";

export interface CollectiveOptions {
  /** Names the collective on all its ranks: a whole number below 2^32. */
  readonly id: number;
  readonly collective: Collective;
  readonly dataType: DataType;
  /** Elements of a segment: of the whole buffer for all-reduce, of one rank's share for all-gather and its like. */
  readonly count: number;
  /** Default "sum". */
  readonly op?: ReduceOp;
  /** Ranks of the world that take part, in the collective's own order. Default: all. */
  readonly ranks?: readonly number[];
  /** Index into `ranks`; default 0. */
  readonly root?: number;
  /** Larger is more urgent on this rank; default 0. Takes effect under a policy that orders by priority. */
  readonly priority?: number;
  /** This rank's scalar for op "scaled-sum"; default 1. */
  readonly scale?: number;
  /** A program of the caller's own instead of the one that the selection table chooses. */
  readonly program?: Program;
}

/** One run: the collective, its send buffer and its receive buffer (either may be missing where the rank has none). */
export type RunRequest = readonly [
  collective: RegisteredCollective,
  send?: ArrayBufferView | null | undefined,
  recv?: ArrayBufferView | null | undefined,
];

/** One rank of a world in this process. */
export class Rank {
  /** @internal */
  readonly queues: RankQueues;
  /** @internal */
  readonly runs: RunTable;
  private readonly backlog: { batch: Batch; requests: readonly RunRequest[]; next: number }[] = [];

  /** @internal */
  constructor(
    readonly world: World,
    readonly number: number,
  ) {
    this.queues = new RankQueues(world.native.memory(number));
    this.runs = new RunTable(this.queues);
  }

  /**
   * Registers a collective on this rank; other ranks do the same, in any order, also while collectives run. Never waits
   * for them: a run may be submitted at once and is held until every rank has registered.
   * @throws {InvalidArgumentError} for a value out of range; {@link RegistrationMismatchError} where another rank registered
   *   the id differently; {@link EngineError} ALREADY_REGISTERED, INVALID_PROGRAM, OUT_OF_MEMORY.
   */
  register(options: CollectiveOptions): RegisteredCollective {
    this.world.requireOpen();
    const { id, collective, dataType, count, op = "sum", root = 0, priority = 0, scale = 1 } = options;
    const ranks = options.ranks ?? this.world.ranks.map(({ number }) => number);
    checkOptions({ id, collective, dataType, count, op, root, priority, scale, ranks }, this);
    const member = ranks.indexOf(this.number);
    const program =
      options.program !== undefined
        ? encodeOnce(options.program)
        : collective === "custom"
          ? missingProgram()
          : chooseProgram({ collective, ranks: ranks.length, root, count, dataType });
    const bytes = program.ranks[member];
    if (bytes === undefined) {
      throw new InvalidArgumentError("program", `one for ${program.ranks.length} ranks`, `a program for ${ranks.length} ranks`);
    }
    const handle = callNative(() =>
      this.world.native.register(this.number, {
        id,
        collective: collectiveCode(collective),
        dataType: dataTypeCode(dataType),
        op: reduceOpCode(op),
        count,
        root,
        scale,
        priority,
        ranks: Uint32Array.from(ranks),
        program: bytes,
      }),
    );
    const customSegments = { input: options.program?.inputSegments ?? 1, output: options.program?.outputSegments ?? 1 };
    const lengths = bufferLengths(collective, count, ranks.length, member, root, customSegments);
    this.world.pump.kick();
    return new RegisteredCollective(this, handle, { id, collective, dataType, op, count, root, ranks, priority }, lengths, program);
  }

  /** Zeroed memory that vector instructions and the engine like best: page-aligned, outside the JavaScript heap. */
  allocate<T extends DataType>(dataType: T, length: number): TypedArrayOf<T> {
    this.world.requireOpen();
    if (!Number.isInteger(length) || length < 0) throw new InvalidArgumentError("length", length, "a whole number of elements");
    const constructor = typedArrayOf(dataType);
    const buffer = callNative(() => nativeAddon().allocate(length * constructor.BYTES_PER_ELEMENT));
    return new constructor(buffer, 0, length) as TypedArrayOf<T>;
  }

  /**
   * Submits many runs at once: one publication for all of them, and no call into the engine. Where the queue is full, the
   * rest waits here and follows as completions make room; nothing is lost and nothing blocks.
   * @returns the batch: `await` it, or pass `onComplete`.
   * @throws {BufferError}, {@link ClosedError} before anything is submitted.
   */
  submit(requests: readonly RunRequest[], options: BatchOptions = {}): Batch {
    this.world.requireOpen();
    const batch = new Batch(requests.length, options.onComplete);
    for (const [collective, send, recv] of requests) {
      if (collective.rank !== this) {
        throw new InvalidArgumentError("collective", collective.name, `a collective that rank ${this.number} registered`);
      }
      collective.prepare(send, recv);
    }
    if (requests.length === 0) return batch;
    for (const [collective] of requests) collective.issuedRuns += 1;
    if (this.backlog.length > 0) {
      this.backlog.push({ batch, requests, next: 0 });
    } else {
      const taken = this.publish(batch, requests, 0);
      if (taken < requests.length) this.backlog.push({ batch, requests, next: taken });
    }
    this.world.pump.kick();
    return batch;
  }

  /**
   * Device synchronization, as cudaDeviceSynchronize is one: resolves when the daemon that is resident now has left. Safe
   * anywhere, because a daemon that is stuck leaves of its own accord; the collectives that it held go on afterwards.
   */
  async synchronize(): Promise<void> {
    this.world.requireOpen();
    const { native, pump } = this.world;
    const stay = native.residentStay(this.number);
    if (stay === 0) return;
    native.noteSynchronizing(this.number, 1);
    try {
      await pump.until(() => native.isStayOver(this.number, stay));
    } finally {
      if (this.world.isOpen) native.noteSynchronizing(this.number, -1);
    }
  }

  /**
   * The same, blocking this thread and stepping the engine meanwhile.
   * @param timeoutMs - default: none.
   * @returns false if the time ran out first.
   */
  synchronizeBlocking(timeoutMs = 0): boolean {
    this.world.requireOpen();
    const over = callNative(() => this.world.native.synchronize(this.number, Math.ceil(timeoutMs * 1000)));
    this.world.pump.kick();
    return over;
  }

  counters(): RankCounters {
    this.world.requireOpen();
    return readCounters(this.world.native, this.number);
  }

  /** Runs in flight or waiting to be submitted. */
  get pendingRuns(): number {
    return this.runs.size + this.backlog.reduce((sum, { requests, next }) => sum + requests.length - next, 0);
  }

  /** @internal Submits what waited for room. */
  flushBacklog(): void {
    for (let first = this.backlog[0]; first !== undefined; first = this.backlog[0]) {
      const { batch, requests, next } = first;
      for (let i = next; i < requests.length; i += 1) {
        const request = requests[i];
        if (request) request[0].prepare(request[1], request[2]);
      }
      first.next = this.publish(batch, requests, next);
      if (first.next < requests.length) return;
      this.backlog.shift();
    }
  }

  /** @internal */
  failAll(error: unknown): void {
    const waiting = this.backlog.splice(0);
    this.runs.failAll(error);
    for (const { batch } of waiting) batch.fail(error);
  }

  /** Writes what there is room for. @returns the position behind the last one written. */
  private publish(batch: Batch, requests: readonly RunRequest[], from: number): number {
    const { queues, runs } = this;
    const count = Math.min(queues.lock(), requests.length - from);
    for (let i = 0; i < count; i += 1) {
      const request = requests[from + i];
      if (request === undefined) break;
      const [collective, send, recv] = request;
      // Prepared again where one collective occurs twice with different buffers; a comparison otherwise.
      collective.prepare(send, recv);
      const slot = queues.claimSlot();
      runs.add(slot, collective, batch, from + i, send, recv);
      queues.write(i, collective.handle, slot, collective.sendAddress, collective.recvAddress);
    }
    queues.publish(count);
    if (count > 0 && queues.hasSleepers()) this.world.native.ring();
    return from + count;
  }
}

function missingProgram(): never {
  throw new InvalidArgumentError("program", undefined, "the program that the custom collective runs");
}

function checkOptions(
  o: Required<Omit<CollectiveOptions, "program">>,
  rank: Rank,
): void {
  const whole = (name: string, value: number, most: number): void => {
    if (!Number.isInteger(value) || value < 0 || value > most) throw new InvalidArgumentError(name, value, `a whole number from 0 to ${most}`);
  };
  if (!isCollective(o.collective)) throw new InvalidArgumentError("collective", o.collective, 'a collective such as "all-reduce"');
  if (!isDataType(o.dataType)) throw new InvalidArgumentError("dataType", o.dataType, 'a data type such as "float32"');
  if (!isReduceOp(o.op)) throw new InvalidArgumentError("op", o.op, 'a reduction operator such as "sum"');
  whole("id", o.id, 0xffff_ffff);
  whole("count", o.count, Number.MAX_SAFE_INTEGER);
  if (!Array.isArray(o.ranks) || o.ranks.length === 0) throw new InvalidArgumentError("ranks", o.ranks, "a list of ranks");
  const size = rank.world.ranks.length;
  for (const member of o.ranks) {
    if (!Number.isInteger(member) || member < 0 || member >= size) {
      throw new InvalidArgumentError("ranks", o.ranks, `ranks from 0 to ${size - 1}`);
    }
  }
  if (new Set(o.ranks).size !== o.ranks.length) throw new InvalidArgumentError("ranks", o.ranks, "each rank once");
  if (!o.ranks.includes(rank.number)) throw new InvalidArgumentError("ranks", o.ranks, `a list with rank ${rank.number}, which registers`);
  whole("root", o.root, o.ranks.length - 1);
  if (!Number.isInteger(o.priority) || Math.abs(o.priority) > 0x7fff_ffff) {
    throw new InvalidArgumentError("priority", o.priority, "a whole number of 32 bits");
  }
  if (typeof o.scale !== "number" || Number.isNaN(o.scale)) throw new InvalidArgumentError("scale", o.scale, "a number");
}

