import { type InspectOptions, inspect } from "node:util";
import { collectiveCode, type DataType, dataTypeCode, InvalidArgumentError, reduceOpCode, typedArrayOf } from "@dfccl/primitives";
import type { Backend, BufferOf } from "./backend.js";
import { Batch, type BatchOptions, checkBatchOptions } from "./batch.js";
import { noteAllocated } from "./buffer-address.js";
import { bytesOfBuffer } from "./buffer-bytes.js";
import { type CollectiveOptions, completeOptions } from "./collective-options.js";
import { type RankCounters, readCounters } from "./counters.js";
import { DeviceBuffer } from "./device-buffer.js";
import { DeadlockError, givenUp } from "./errors.js";
import { callNative, typedError } from "./native-addon/native-error.js";
import { nativeAddon } from "./native-addon/native-world.js";
import { chooseProgram, encodeOnce } from "./program-choice.js";
import { Quarantine } from "./quarantine.js";
import { RankQueues } from "./rank-queues.js";
import { RegisteredCollective } from "./registered-collective.js";
import { bufferLengths } from "./run-check.js";
import { RunTable } from "./run-table.js";
import { type RunRequest, Submitter } from "./submitter.js";
import { summary } from "./summary.js";
import { checkTimeout } from "./timeout.js";
import type { World } from "./world.js";

const noOptions: BatchOptions = {};

/** One rank of a world, which lives in this process. */
export class Rank<B extends Backend = "cpu"> {
  /** @internal */
  readonly queues: RankQueues;
  /** @internal */
  readonly runs: RunTable;
  /** @internal */
  readonly quarantine: Quarantine;
  private readonly submitter: Submitter;
  private readonly isOurs = (collective: RegisteredCollective): boolean => (collective.rank as unknown) === this;

  /** @internal */
  constructor(
    readonly world: World<B>,
    readonly number: number,
  ) {
    this.queues = new RankQueues(world.native.memory(number));
    this.quarantine = new Quarantine(({ handle }) => world.native.isQuarantineOver(number, handle));
    this.runs = new RunTable(this.queues, this.quarantine, (collective) =>
      givenUp(collective, world.native.lostRanks(number, collective.handle), world.native.whyAborted(number, collective.handle)),
    );
    this.submitter = new Submitter(this.queues, this.runs, () => world.native.ring());
  }

  /**
   * Registers a collective on this rank; other ranks do the same, in any order, also while collectives run. Never waits
   * for them: a run may be submitted at once and is held until every rank has registered.
   * @throws {InvalidArgumentError} for a value out of range; {@link RegistrationMismatchError} where another rank registered
   *   the id differently; {@link EngineError} ALREADY_REGISTERED, INVALID_PROGRAM, OUT_OF_MEMORY; ProgramError for a program of
   *   the caller's own that can't be proven.
   */
  register(options: CollectiveOptions): RegisteredCollective {
    this.world.requireOpen();
    const facts = completeOptions(options, this.number, this.world.size);
    const { collective, dataType, count, root, ranks } = facts;
    const member = ranks.indexOf(this.number);
    const hosts = this.world.hostsOf(ranks);
    const program =
      options.program !== undefined
        ? encodeOnce(options.program)
        : collective === "custom"
          ? missingProgram()
          : this.world.backend === "cuda"
            ? undefined // The engine's own choice, which knows how many blocks pay on a GPU.
            : chooseProgram({
                collective,
                ranks: ranks.length,
                root,
                count,
                dataType,
                sharedMemory: facts.buffers === "allocated" && hosts === undefined,
                hosts,
              });
    const bytes = program === undefined ? new Uint8Array(0) : program.ranks[member];
    if (bytes === undefined) {
      throw new InvalidArgumentError("program", `one for ${program?.ranks.length} ranks`, `a program for ${ranks.length} ranks`);
    }
    const handle = callNative(() =>
      this.world.native.register(this.number, {
        id: facts.id,
        collective: collectiveCode(collective),
        dataType: dataTypeCode(dataType),
        op: reduceOpCode(facts.op),
        count,
        root,
        scale: facts.scale,
        priority: facts.priority,
        ranks: Uint32Array.from(ranks),
        program: bytes,
      }),
    );
    const customSegments = { input: options.program?.inputSegments ?? 1, output: options.program?.outputSegments ?? 1 };
    const lengths = bufferLengths(collective, count, ranks.length, member, root, customSegments);
    this.world.pump.kick();
    return new RegisteredCollective(
      this,
      handle,
      facts,
      lengths,
      program ?? { ...this.world.native.placements(this.number, handle), usesDirect: true },
    );
  }

  /**
   * Zeroed memory for buffers. On a CPU a typed array, page-aligned and outside the JavaScript heap; on a GPU a
   * {@link DeviceBuffer}.
   * @throws {InvalidArgumentError}; {@link EngineError} OUT_OF_MEMORY.
   */
  allocate<T extends DataType>(dataType: T, length: number): BufferOf<B, T> {
    this.world.requireOpen();
    const bytes = bytesOfBuffer(this.world.backend, dataType, length);
    if (this.world.backend === "cuda") return DeviceBuffer.allocate(this, dataType, length) as BufferOf<B, T>;
    const ArrayOfType = typedArrayOf(dataType);
    const buffer = callNative(() => nativeAddon().allocate(bytes));
    noteAllocated(buffer);
    return new ArrayOfType(buffer, 0, length) as BufferOf<B, T>;
  }

  /**
   * Submits many runs at once: one publication for all of them, and no call into the engine. Where the queue is full, the
   * rest waits here and follows as completions make room; nothing is lost and nothing blocks.
   * @returns the batch: `await` it, or pass `onComplete`.
   * @throws {InvalidArgumentError}, {@link BufferError}, {@link ClosedError} before anything is submitted.
   */
  submit(requests: readonly RunRequest[], options: BatchOptions = noOptions): Batch {
    this.world.requireOpen();
    if (options !== noOptions) checkBatchOptions(options);
    this.submitter.check(requests, this.isOurs);
    const batch = new Batch(requests.length, options.onComplete);
    if (requests.length > 0) {
      this.submitter.submit(batch, requests);
      this.world.pump.kick();
    }
    return batch;
  }

  /**
   * Device synchronization, as cudaDeviceSynchronize is one: resolves when the daemon that is resident now has left. Safe
   * anywhere, because a daemon that is stuck leaves of its own accord; the collectives that it held go on afterwards.
   */
  async synchronize(): Promise<void> {
    this.world.requireOpen();
    const { native, pump } = this.world;
    if (this.world.backend === "cuda") return this.synchronizeDevice();
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
   * @throws {DeadlockError} in an in-order world that can't go on.
   */
  synchronizeBlocking(timeoutMs?: number): boolean {
    this.world.requireOpen();
    checkTimeout(timeoutMs);
    const { native, pump } = this.world;
    // 0 means none to the engine.
    const timeoutMicros = timeoutMs === undefined ? 0 : Math.max(1, Math.ceil(timeoutMs * 1000));
    const isOver = callNative(() => native.synchronize(this.number, timeoutMicros));
    pump.kick();
    const report = isOver ? null : native.deadlock();
    if (report !== null) throw new DeadlockError(report);
    return isOver;
  }

  private async synchronizeDevice(): Promise<void> {
    try {
      await this.world.native.synchronizeLater(this.number);
    } catch (error) {
      throw typedError(error);
    }
  }

  /** On a GPU, of each block as it was at the end of its last stay. */
  counters(): RankCounters {
    this.world.requireOpen();
    return readCounters(this.world.native, this.number);
  }

  /** Runs in flight or waiting to be submitted. */
  get pendingRuns(): number {
    return this.runs.size + this.submitter.waiting;
  }

  /** What console.log() shows. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { number, world, pendingRuns } = this;
    return summary(world.isJoined ? "JoinedRank" : "Rank", { number, size: world.size, backend: world.backend, pendingRuns }, options);
  }

  /** @internal Whether a run in flight, or in quarantine, uses memory of an allocation. */
  uses(root: DeviceBuffer): boolean {
    const isOfIt = (buffer: unknown): boolean => buffer instanceof DeviceBuffer && buffer.root === root;
    return this.runs.someBuffer(isOfIt) || this.quarantine.someBuffer(isOfIt);
  }

  /** @internal Something is under way whose end no completion announces. */
  get isWatching(): boolean {
    return !this.quarantine.isEmpty;
  }

  /** @internal Delivers completions and submits what waited for the room that they made. @returns how many. */
  deliver(): number {
    const delivered = this.runs.deliver();
    // A callback may have closed the world.
    if (!this.world.isOpen) return delivered;
    if (!this.quarantine.isEmpty) this.quarantine.release();
    this.submitter.flush();
    return delivered;
  }

  /** @internal */
  failAll(error: unknown, isEngineStopped: boolean): void {
    this.runs.failAll(error, isEngineStopped);
    this.submitter.failAll(error);
    if (isEngineStopped) this.quarantine.clear();
  }
}

function missingProgram(): never {
  throw new InvalidArgumentError("program", undefined, "the program that the custom collective runs");
}
