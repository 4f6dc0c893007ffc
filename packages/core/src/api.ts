import type { DataType } from "@dfccl/primitives";
import type { SchedulePolicy } from "@dfccl/scheduler";
import type { Backend, BufferOf, CollectiveBuffer } from "./backend.js";
import type { CollectiveFacts } from "./collective-facts.js";
import type { CollectiveOptions } from "./collective-options.js";
import type { RankCounters } from "./counters.js";
import type { BatchedCalls, BatchOfCallsOptions, Collectives, Group, GroupOptions, InGroup } from "./matching/group-api.js";
import type { DeadlockReport, MemberProgress } from "./native-addon/native-reports.js";

// What users hold. These types name each other (a world has ranks, a rank registers collectives, a collective knows its rank), so
// they stand together; the classes that carry them out import them from here, and not each other in a circle.

/** Ranks that live in this process; made by {@link openWorld}, or by `joinWorld()` around one rank of many processes. */
export interface World<B extends Backend = "cpu"> extends Disposable, AsyncDisposable {
  /** This process's ranks. */
  readonly ranks: readonly Rank<B>[];
  /** Ranks of the world, those of other processes included. */
  readonly size: number;
  /** The policy in force. */
  readonly policy: SchedulePolicy;
  readonly backend: B;
  /** Until close(). */
  readonly isOpen: boolean;
  /** In-order worlds: the cycle that the engine's watchdog found, or undefined. */
  deadlock(): DeadlockReport | undefined;
  /** Bytes of connectors and scratch memory: of what is registered, and of what it may take over from former registrations. */
  arenaBytesInUse(): number;
  /**
   * Stops the engine's threads and fails what is in flight with {@link ClosedError}. Twice is fine. Buffers are free at
   * once: nothing steps any more.
   */
  close(): void;
}

/** One rank of a world, which lives in this process. Its collectives without registration are those of the group of all ranks. */
export interface Rank<B extends Backend = "cpu"> extends Collectives<InGroup> {
  readonly world: World<B>;
  readonly number: number;
  /**
   * Registers a collective on this rank; other ranks do the same, in any order, also while collectives run. Never waits
   * for them: a run may be submitted at once and is held until every rank has registered.
   * @throws {InvalidArgumentError} for a value out of range; {@link RegistrationMismatchError} where another rank registered
   *   the id differently; {@link EngineError} ALREADY_REGISTERED, INVALID_PROGRAM, OUT_OF_MEMORY; ProgramError for a program of
   *   the caller's own that can't be proven.
   */
  register(options: CollectiveOptions): RegisteredCollective;
  /**
   * A group of these ranks of the world, in this order. Never waits for the others: each makes and drops groups when it likes. The
   * n-th group that a rank makes of the same ranks and name goes with the n-th of the others; of all ranks without a name, the rank's
   * own methods have the first, as if it had been made with the world.
   * @param ranks - this rank must be one; default: all.
   * @throws {InvalidArgumentError}, {@link ClosedError}
   */
  group(ranks?: readonly number[], options?: GroupOptions): Group;
  /**
   * Submits several calls at once, on any of this rank's groups: all of them or, where one is refused, none.
   * @param describe - names them, in any order, before it returns.
   * @returns when all are over; rejects with the first failure then, and at once where they were refused.
   * @example
   * await rank.batch((calls) => {
   *   calls.send(x, right);
   *   calls.recv(y, left);
   *   calls.allReduce(z, { group });
   * });
   */
  batch(describe: (calls: BatchedCalls) => void, options?: BatchOfCallsOptions): Promise<void>;
  /**
   * Zeroed memory for buffers, which other processes of the world can reach. On a CPU a typed array, page-aligned and outside the
   * JavaScript heap; on a GPU a {@link DeviceBuffer}.
   * @throws {InvalidArgumentError}; {@link EngineError} OUT_OF_MEMORY.
   */
  allocate<T extends DataType>(dataType: T, length: number): BufferOf<B, T>;
  /**
   * Submits many runs at once: one publication for all of them, and no call into the engine. Where the queue is full, the
   * rest waits here and follows as completions make room; nothing is lost and nothing blocks.
   * @returns the batch: `await` it, or pass `onComplete`.
   * @throws {InvalidArgumentError}, {@link BufferError}, {@link ClosedError} before anything is submitted.
   */
  submit(requests: readonly RunRequest[], options?: BatchOptions): Batch;
  /**
   * Device synchronization, as cudaDeviceSynchronize is one: resolves when the daemon that is resident now has left. Safe
   * anywhere, because a daemon that is stuck leaves of its own accord; the collectives that it held go on afterwards.
   */
  synchronize(): Promise<void>;
  /**
   * The same, blocking this thread and stepping the engine meanwhile.
   * @param timeoutMs - default: none.
   * @returns false if the time ran out first.
   * @throws {DeadlockError} in an in-order world that can't go on.
   */
  synchronizeBlocking(timeoutMs?: number): boolean;
  /** On a GPU, of each block as it was at the end of its last stay. */
  counters(): RankCounters;
  /** Runs in flight or waiting to be submitted. */
  readonly pendingRuns: number;
}

/** A collective that one rank has registered; made by `rank.register()`. Runs of it execute in the order of submission. */
export interface RegisteredCollective extends CollectiveFacts, Disposable {
  readonly rank: Rank<Backend>;
  /** This rank's position in `ranks`. */
  readonly member: number;
  /** "all-reduce 7 on rank 0", for messages. */
  readonly name: string;
  /**
   * Submits one run.
   * @param send - elements to send, as many as the collective takes; leave out where this rank sends none.
   * @param recv - where the result goes; the same view again for in place.
   * @returns when the result is there and no other rank touches these buffers any more.
   * @throws {BufferError} at once; {@link CollectiveTimeoutError}, {@link CollectiveAbortedError}, {@link CountMismatchError},
   *   DeadlockError later.
   */
  run(send?: CollectiveBuffer | null, recv?: CollectiveBuffer | null, options?: RunOptions): Promise<void>;
  /** Which ranks have registered it, and how many runs each has submitted and finished. */
  explain(): readonly MemberProgress[];
  /**
   * Gives the collective up on all ranks, at once: runs in flight and later ones fail with {@link CollectiveAbortedError}
   * until every rank has unregistered and registered it again. Buffers stay in use until {@link quarantine} resolves.
   */
  abort(): void;
  /** Resolves when, after an abort, no rank touches the buffers any more. */
  quarantine(): Promise<void>;
  /** Bytes that the registration takes on this rank, connectors and scratch memory included. */
  memoryBytes(): number;
  /**
   * Frees what the registration holds on this rank. Twice is fine. Once a run of it has completed here, all ranks have
   * registered the id, and each may register it anew when it likes. A registration that is given back before the others
   * have come is as if it had not been: theirs will go with this rank's next.
   * @throws {EngineError} IN_USE while runs are in flight or their completions aren't delivered.
   */
  unregister(): void;
}

export interface RunOptions {
  /** Reject after so many milliseconds. The run stays in flight: it completes when the missing ranks come. */
  readonly timeoutMs?: number;
  /** Aborting the signal aborts the collective on all ranks. */
  readonly signal?: AbortSignal;
  /**
   * Of a collective that was registered with `countPerRun`: elements of a segment in this run, the same on all ranks. Default: as many
   * as it was registered with.
   */
  readonly count?: number;
}

/**
 * One run: the collective, its send buffer and its receive buffer (either may be missing where the rank has none); and its count, as in
 * {@link RunOptions}.
 */
export type RunRequest = readonly [
  collective: RegisteredCollective,
  send?: CollectiveBuffer | null | undefined,
  recv?: CollectiveBuffer | null | undefined,
  count?: number | undefined,
];

/**
 * Runs that were submitted together. `await` it, or use the callbacks: a Promise is made only if somebody asks. It settles
 * when the last run has ended, and rejects with the first failure.
 */
export interface Batch extends PromiseLike<void> {
  /** Number of runs. */
  readonly size: number;
  /** Runs that have not completed yet. */
  readonly pending: number;
  then<T = void, E = never>(
    // biome-ignore lint/suspicious/noConfusingVoidType: the signature of PromiseLike<void>
    onFulfilled?: ((value: void) => T | PromiseLike<T>) | null,
    onRejected?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<T | E>;
}

export interface BatchOptions {
  /**
   * Called once for each run that ends, never before submit() has returned; runs whose completions are found together come in
   * the order of submission. Runs that a closed or deadlocked world leaves behind don't end; awaiting the batch tells of those.
   */
  readonly onComplete?: (run: CompletedRun) => void;
}

/** One completed run, as an `onComplete` callback sees it. */
export interface CompletedRun {
  readonly collective: RegisteredCollective;
  /** Position in the list that was submitted. */
  readonly position: number;
  /**
   * - completed: the result is there.
   * - aborted: some rank aborted the collective, or is gone.
   * - mismatched: the ranks brought different counts to it, and nothing was moved.
   * - refused: the run was never submitted, because a buffer was detached while it waited for room in the queue.
   */
  readonly status: "completed" | "aborted" | "mismatched" | "refused";
}
