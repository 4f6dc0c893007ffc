import { type InspectOptions, inspect } from "node:util";
import { collectiveCode, type DataType, dataTypeCode, InvalidArgumentError, reduceOpCode, typedArrayOf } from "@dfccl/primitives";
import type { Backend, BufferOf } from "./backend.js";
import { Batch, type BatchOptions, checkBatchOptions } from "./batch.js";
import { noteAllocated } from "./buffer-address.js";
import { bytesOfBuffer } from "./buffer-bytes.js";
import { type CollectiveOptions, completeOptions } from "./collective-options.js";
import { type RankCounters, readCounters } from "./counters.js";
import { allocateOnDevice } from "./device-buffer.js";
import type { Engine } from "./engine.js";
import { DeadlockError } from "./errors.js";
import { callNative, typedError } from "./native-addon/native-error.js";
import { nativeAddon } from "./native-addon/native-world.js";
import { chooseProgram, encodeOnce } from "./program-choice.js";
import { RankEngine } from "./rank-engine.js";
import { RegisteredCollective } from "./registered-collective.js";
import { Registration } from "./registration.js";
import { bufferLengths } from "./run-check.js";
import type { RunRequest } from "./submitter.js";
import { summary } from "./summary.js";
import { checkTimeout } from "./timeout.js";
import type { World } from "./world.js";

const noOptions: BatchOptions = {};

/** @internal */
export let engineOfRank: (rank: Rank<Backend>) => RankEngine;

/** One rank of a world, which lives in this process. */
export class Rank<B extends Backend = "cpu"> {
  readonly #own: RankEngine;

  static {
    engineOfRank = (rank) => rank.#own;
  }

  /** @internal */
  constructor(
    readonly world: World<B>,
    engine: Engine,
    readonly number: number,
  ) {
    this.#own = new RankEngine(engine, number);
  }

  /**
   * Registers a collective on this rank; other ranks do the same, in any order, also while collectives run. Never waits
   * for them: a run may be submitted at once and is held until every rank has registered.
   * @throws {InvalidArgumentError} for a value out of range; {@link RegistrationMismatchError} where another rank registered
   *   the id differently; {@link EngineError} ALREADY_REGISTERED, INVALID_PROGRAM, OUT_OF_MEMORY; ProgramError for a program of
   *   the caller's own that can't be proven.
   */
  register(options: CollectiveOptions): RegisteredCollective {
    const { engine, number } = this.#own;
    engine.requireOpen();
    const facts = completeOptions(options, number, engine.size);
    const { collective, dataType, count, root, ranks } = facts;
    const member = ranks.indexOf(number);
    const hosts = engine.hostsOf(ranks);
    const program =
      options.program !== undefined
        ? encodeOnce(options.program)
        : collective === "custom"
          ? missingProgram()
          : engine.backend === "cuda"
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
      engine.native.register(number, {
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
    engine.pump.kick();
    const placements = program ?? { ...engine.native.placements(number, handle), usesDirect: true };
    return new RegisteredCollective(this, new Registration(this.#own, handle, facts, lengths, placements));
  }

  /**
   * Zeroed memory for buffers, which other processes of the world can reach. On a CPU a typed array, page-aligned and outside the
   * JavaScript heap; on a GPU a {@link DeviceBuffer}.
   * @throws {InvalidArgumentError}; {@link EngineError} OUT_OF_MEMORY.
   */
  allocate<T extends DataType>(dataType: T, length: number): BufferOf<B, T> {
    const { engine } = this.#own;
    engine.requireOpen();
    const bytes = bytesOfBuffer(engine.backend, dataType, length);
    if (engine.backend === "cuda") return allocateOnDevice(this.#own, dataType, length, bytes) as BufferOf<B, T>;
    // In a world of processes it is memory that the others can reach, too.
    const buffer = callNative(() => (engine.isJoined ? engine.native : nativeAddon()).allocate(bytes));
    noteAllocated(buffer);
    return new (typedArrayOf(dataType))(buffer, 0, length) as BufferOf<B, T>;
  }

  /**
   * Submits many runs at once: one publication for all of them, and no call into the engine. Where the queue is full, the
   * rest waits here and follows as completions make room; nothing is lost and nothing blocks.
   * @returns the batch: `await` it, or pass `onComplete`.
   * @throws {InvalidArgumentError}, {@link BufferError}, {@link ClosedError} before anything is submitted.
   */
  submit(requests: readonly RunRequest[], options: BatchOptions = noOptions): Batch {
    this.#own.engine.requireOpen();
    if (options !== noOptions) checkBatchOptions(options);
    this.#own.check(requests);
    const batch = new Batch(requests.length, options.onComplete);
    if (requests.length > 0) this.#own.submit(batch, requests);
    return batch;
  }

  /**
   * Device synchronization, as cudaDeviceSynchronize is one: resolves when the daemon that is resident now has left. Safe
   * anywhere, because a daemon that is stuck leaves of its own accord; the collectives that it held go on afterwards.
   */
  async synchronize(): Promise<void> {
    const { engine, number } = this.#own;
    engine.requireOpen();
    const { native, pump } = engine;
    if (engine.backend === "cuda") return this.#synchronizeDevice();
    const stay = native.residentStay(number);
    if (stay === 0) return;
    native.noteSynchronizing(number, 1);
    try {
      await pump.until(() => native.isStayOver(number, stay));
    } finally {
      if (engine.isOpen) native.noteSynchronizing(number, -1);
    }
  }

  /**
   * The same, blocking this thread and stepping the engine meanwhile.
   * @param timeoutMs - default: none.
   * @returns false if the time ran out first.
   * @throws {DeadlockError} in an in-order world that can't go on.
   */
  synchronizeBlocking(timeoutMs?: number): boolean {
    const { engine, number } = this.#own;
    engine.requireOpen();
    checkTimeout(timeoutMs);
    const { native, pump } = engine;
    // 0 means none to the engine.
    const timeoutMicros = timeoutMs === undefined ? 0 : Math.max(1, Math.ceil(timeoutMs * 1000));
    const isOver = callNative(() => native.synchronize(number, timeoutMicros));
    pump.kick();
    const report = isOver ? null : native.deadlock();
    if (report !== null) throw new DeadlockError(report);
    return isOver;
  }

  async #synchronizeDevice(): Promise<void> {
    const { engine, number } = this.#own;
    try {
      await engine.native.synchronizeLater(number);
    } catch (error) {
      throw typedError(error);
    }
  }

  /** On a GPU, of each block as it was at the end of its last stay. */
  counters(): RankCounters {
    const { engine, number } = this.#own;
    engine.requireOpen();
    return readCounters(engine.native, number);
  }

  /** Runs in flight or waiting to be submitted. */
  get pendingRuns(): number {
    return this.#own.pendingRuns;
  }

  /** What console.log() shows. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { number, pendingRuns } = this;
    const { isJoined, size, backend } = this.#own.engine;
    return summary(isJoined ? "JoinedRank" : "Rank", { number, size, backend, pendingRuns }, options);
  }
}

function missingProgram(): never {
  throw new InvalidArgumentError("program", undefined, "the program that the custom collective runs");
}
