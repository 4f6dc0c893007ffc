import { type InspectOptions, inspect } from "node:util";
import { checkOptions, type DataType, type OptionNames, readArgument, typedArrayOf } from "@dfccl/primitives";
import type { Batch, BatchOptions, Rank, RegisteredCollective, RunRequest, World } from "./api.js";
import type { Backend, BufferOf, CollectiveBuffer } from "./backend.js";
import { checkBatchOptions, LocalBatch } from "./batch.js";
import { noteAllocated } from "./buffer-address.js";
import { bytesOfBuffer } from "./buffer-bytes.js";
import { type CollectiveOptions, checkRanks } from "./collective-options.js";
import { type RankCounters, readCounters } from "./counters.js";
import { allocateOnDevice } from "./device-buffer.js";
import type { Engine } from "./engine.js";
import { DeadlockError } from "./errors.js";
import { tagOf } from "./matching/arguments.js";
import { collectCalls } from "./matching/batched-calls.js";
import type {
  BatchedCalls,
  BatchOfCallsOptions,
  CallOptions,
  Counts,
  DisplacementsOption,
  Group,
  GroupOptions,
  InGroup,
  IntoOption,
  OpOption,
  RootOption,
  UnevenOptions,
} from "./matching/group-api.js";
import { callsOf, isGroup, LocalGroup, matchingOf } from "./matching/local-group.js";
import { Matching } from "./matching/matching.js";
import { callNative, typedError } from "./native-addon/native-error.js";
import { nativeAddon } from "./native-addon/native-world.js";
import { RankEngine } from "./rank-engine.js";
import { registerOn } from "./register-collective.js";
import { LocalCollective } from "./registered-collective.js";
import { summary } from "./summary.js";
import { checkTimeout } from "./timeout.js";

const noOptions: BatchOptions = {};
const groupOptionNames: OptionNames<GroupOptions> = { name: true };

type Buffer = CollectiveBuffer | null | undefined;

/** @internal */
export let engineOfRank: (rank: Rank<Backend>) => RankEngine;

/** The class behind {@link Rank}. */
export class LocalRank<B extends Backend = "cpu"> implements Rank<B> {
  readonly #own: RankEngine;
  readonly #matching: Matching;
  /** All ranks. */
  readonly #all: LocalGroup;

  static {
    engineOfRank = (rank) => (rank as LocalRank<Backend>).#own;
  }

  /** @internal */
  constructor(
    readonly world: World<B>,
    engine: Engine,
    readonly number: number,
  ) {
    this.#own = new RankEngine(engine, number);
    this.#matching = new Matching(this, this.#own);
    this.#all = new LocalGroup(this.#matching, this.#matching.world);
    // Not frozen: a class that extends this one has fields of its own.
    for (const key of ["world", "number"]) Object.defineProperty(this, key, { writable: false, configurable: false });
  }

  register(options: CollectiveOptions): RegisteredCollective {
    return new LocalCollective(this, registerOn(this.#own, this.#matching.table, options));
  }

  group(ranks: readonly number[] = this.#own.engine.allRanks, options: GroupOptions = {}): Group {
    const { engine, number } = this.#own;
    engine.requireOpen();
    checkOptions<GroupOptions>("options", options, groupOptionNames, "an object such as { name: 7 }");
    checkRanks(ranks, number, engine.size);
    const name = BigInt(tagOf("name", options.name));
    return new LocalGroup(this.#matching, this.#matching.makeGroup(Object.freeze([...ranks]), name));
  }

  async batch(describe: (calls: BatchedCalls) => void, options: BatchOfCallsOptions = {}): Promise<void> {
    checkOptions<BatchOfCallsOptions>("options", options, { timeoutMs: true }, "an object such as { timeoutMs: 5000 }");
    checkTimeout(options.timeoutMs);
    this.#own.engine.requireOpen();
    const calls = collectCalls(describe, (given) => callsOf(this.#in(given)));
    return this.#matching.beginAll(calls, options.timeoutMs);
  }

  allReduce(x: CollectiveBuffer, options?: CallOptions & OpOption & IntoOption & InGroup): Promise<void> {
    return this.#in(options).allReduce(x, options);
  }

  reduce(x: CollectiveBuffer, options?: CallOptions & OpOption & RootOption & IntoOption & InGroup): Promise<void> {
    return this.#in(options).reduce(x, options);
  }

  broadcast(x: CollectiveBuffer, options?: CallOptions & RootOption & IntoOption & InGroup): Promise<void> {
    return this.#in(options).broadcast(x, options);
  }

  allGather(send: CollectiveBuffer, recv: CollectiveBuffer, options?: CallOptions & InGroup): Promise<void> {
    return this.#in(options).allGather(send, recv, options);
  }

  reduceScatter(send: CollectiveBuffer, recv: CollectiveBuffer, options?: CallOptions & OpOption & InGroup): Promise<void> {
    return this.#in(options).reduceScatter(send, recv, options);
  }

  allToAll(send: CollectiveBuffer, recv: CollectiveBuffer, options?: CallOptions & InGroup): Promise<void> {
    return this.#in(options).allToAll(send, recv, options);
  }

  gather(send: CollectiveBuffer, recv?: Buffer, options?: CallOptions & RootOption & InGroup): Promise<void> {
    return this.#in(options).gather(send, recv, options);
  }

  scatter(send: Buffer, recv: CollectiveBuffer, options?: CallOptions & RootOption & InGroup): Promise<void> {
    return this.#in(options).scatter(send, recv, options);
  }

  barrier(options?: Omit<CallOptions, "dataType" | "count"> & InGroup): Promise<void> {
    return this.#in(options).barrier(options);
  }

  send(x: CollectiveBuffer, peer: number, options?: CallOptions & InGroup): Promise<void> {
    return this.#in(options).send(x, peer, options);
  }

  recv(x: CollectiveBuffer, peer: number, options?: CallOptions & InGroup): Promise<void> {
    return this.#in(options).recv(x, peer, options);
  }

  recvAny(x: CollectiveBuffer, options?: CallOptions & InGroup): Promise<number> {
    return this.#in(options).recvAny(x, options);
  }

  allToAllV(
    send: CollectiveBuffer,
    sendCounts: Counts,
    recv: CollectiveBuffer,
    recvCounts: Counts,
    options?: UnevenOptions & { readonly sendDisplacements?: Counts; readonly recvDisplacements?: Counts } & InGroup,
  ): Promise<void> {
    return this.#in(options).allToAllV(send, sendCounts, recv, recvCounts, options);
  }

  allGatherV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options?: UnevenOptions & DisplacementsOption & InGroup,
  ): Promise<void> {
    return this.#in(options).allGatherV(send, recv, counts, options);
  }

  reduceScatterV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options?: UnevenOptions & OpOption & InGroup,
  ): Promise<void> {
    return this.#in(options).reduceScatterV(send, recv, counts, options);
  }

  gatherV(
    send: CollectiveBuffer,
    recv: Buffer,
    counts: Counts,
    options?: UnevenOptions & DisplacementsOption & RootOption & InGroup,
  ): Promise<void> {
    return this.#in(options).gatherV(send, recv, counts, options);
  }

  scatterV(
    send: Buffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options?: UnevenOptions & DisplacementsOption & RootOption & InGroup,
  ): Promise<void> {
    return this.#in(options).scatterV(send, recv, counts, options);
  }

  /** The group that a call is of. Another than this rank's own is refused by the one of all ranks. */
  #in(options: InGroup | undefined): LocalGroup {
    const group = options && readArgument("options", "an object such as { tag: 7 }", () => options.group);
    return isGroup(group) && matchingOf(group) === this.#matching ? group : this.#all;
  }

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

  submit(requests: readonly RunRequest[], options: BatchOptions = noOptions): Batch {
    this.#own.engine.requireOpen();
    if (options !== noOptions) checkBatchOptions(options);
    const { onComplete } = options; // A getter mustn't do anything to buffers that are checked already.
    const runs = this.#own.check(requests);
    const batch = new LocalBatch(runs.count, onComplete);
    if (runs.count > 0) this.#own.submit(batch, runs);
    return batch;
  }

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

  counters(): RankCounters {
    const { engine, number } = this.#own;
    engine.requireOpen();
    return readCounters(engine.native, number);
  }

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
