import type { DataType, ReduceOp } from "@dfccl/primitives";
import type { CollectiveBuffer } from "../backend.js";

// Collectives that need no registration, as users see them; the classes that carry them out import these types from here.

/** A number of the caller's: whole, from 0 to 2^64 - 1; as a bigint beyond Number.MAX_SAFE_INTEGER. */
export type Tag = number | bigint;

/** What every collective without registration takes. */
export interface CallOptions {
  /** Tells runs apart that are equal in all else; default 0. */
  readonly tag?: Tag;
  /**
   * What the elements are; needed only where a typed array doesn't tell: `Uint16Array` holds float16 or bfloat16, and `Uint8Array`
   * may hold float8.
   */
  readonly dataType?: DataType;
  /** Elements of a segment, in place of what the buffers' lengths say: see each method. */
  readonly count?: number;
  /** Reject after so many milliseconds. The run stays in flight: it completes when the missing ranks come. */
  readonly timeoutMs?: number;
}

export interface OpOption {
  /** Default "sum". Bits ("bit-and", "bit-or", "bit-xor") are those of integer types. A sum with a factor of each rank's own, "scaled-sum", is registered under an id instead. */
  readonly op?: Exclude<ReduceOp, "scaled-sum">;
}

export interface RootOption {
  /** Place in the group; default 0. */
  readonly root?: number;
}

export interface IntoOption {
  /** Where the result goes; default: the same buffer. */
  readonly into?: CollectiveBuffer;
}

/** Of rank's methods: in which of its groups. */
export interface InGroup {
  /** Default: all ranks of the world. */
  readonly group?: Group;
}

/**
 * Collectives that need no registration. Runs are matched by their signature: the group, what is computed, type, operator, root or
 * peer, count, and tag. Those that are equal in all of it go together in the order of their submission on each rank; all others in any
 * order, so no rank's order can make others wait for ever. A C program's ranks match these too.
 *
 * A method returns at once; its promise resolves when the result is there and no other rank touches the buffers any more. Buffers are
 * typed arrays, on a GPU the {@link DeviceBuffer}s of the rank, and are written to and read from until then. In place is what NCCL calls
 * so: the smaller buffer is the rank's own segment of the larger one. In a world of processes, buffers that aren't of
 * `rank.allocate()` are copied to where the others reach them, and back.
 *
 * The first use of a signature registers it on this rank alone and waits for nobody; what has long been unused is forgotten. Where one
 * thing runs very often, an id of one's own (`rank.register()`) saves the look-up.
 *
 * Promises reject with {@link InvalidArgumentError} (a root or peer outside the group, a tag or count out of range), {@link BufferError}
 * (missing, too short, of another type, overlapping), {@link ClosedError} (a dropped group, a closed world), {@link EngineError}
 * OUT_OF_MEMORY where as many different calls are in flight on the rank, those that differ in their signature, as `maxCollectives` says,
 * less what it has registered under ids (equal ones have no limit), {@link CollectiveTimeoutError},
 * {@link CollectiveAbortedError}, {@link RankLostError}. What was refused has had no effect on any rank.
 */
export interface Collectives<In = unknown> {
  /** Every element becomes that of all ranks, combined. `count`: elements of `x`. */
  allReduce(x: CollectiveBuffer, options?: CallOptions & OpOption & IntoOption & In): Promise<void>;
  /** As allReduce(), but only the root has the result; `into` is the root's. */
  reduce(x: CollectiveBuffer, options?: CallOptions & OpOption & RootOption & IntoOption & In): Promise<void>;
  /** Everybody gets the root's `x`: in `x`, or in `into`. `count`: elements of `x`. */
  broadcast(x: CollectiveBuffer, options?: CallOptions & RootOption & IntoOption & In): Promise<void>;
  /** Everybody gets what all ranks send, by their places. `count`: elements of `send`; `recv` has as many for each rank. */
  allGather(send: CollectiveBuffer, recv: CollectiveBuffer, options?: CallOptions & In): Promise<void>;
  /** Combined, and each rank gets the segment of its place. `count`: elements of `recv`; `send` has as many for each rank. */
  reduceScatter(send: CollectiveBuffer, recv: CollectiveBuffer, options?: CallOptions & OpOption & In): Promise<void>;
  /** Segment i goes to the rank at place i. `count`: elements of `send`, which must divide, by the number of ranks. */
  allToAll(send: CollectiveBuffer, recv: CollectiveBuffer, options?: CallOptions & In): Promise<void>;
  /** The root gets what all ranks send, by their places. `count`: elements of `send`. Only the root's `recv` is used. */
  gather(send: CollectiveBuffer, recv?: CollectiveBuffer | null, options?: CallOptions & RootOption & In): Promise<void>;
  /** Each rank gets the segment of its place in the root's `send`. `count`: elements of `recv`. Only the root's `send` is used. */
  scatter(send: CollectiveBuffer | null | undefined, recv: CollectiveBuffer, options?: CallOptions & RootOption & In): Promise<void>;
  /** Resolves when all ranks of the group have come. */
  barrier(options?: Omit<CallOptions, "dataType" | "count"> & In): Promise<void>;

  /**
   * Sends `x` to the rank at place `peer`. The n-th send of a rank to a peer goes with the n-th receive of the peer from it that has the
   * same type, count and tag; any number of them may be outstanding, in any order on both sides, of different ones as many as there is
   * room for (`maxCollectives`). To oneself works as well.
   */
  send(x: CollectiveBuffer, peer: number, options?: CallOptions & In): Promise<void>;
  /** Receives into `x` from the rank at place `peer`; see {@link send}. */
  recv(x: CollectiveBuffer, peer: number, options?: CallOptions & In): Promise<void>;
  /**
   * Receives into `x` from whichever member sends first what has the same type, count and tag. The sender, `send()`, needn't know.
   * Receives of the same kind get messages in the order of the calls; one that names the sender comes before all of them. Members that
   * are gone, or have given up the group, are passed over; where nobody is left, the promise rejects as that of any call. What another
   * process sends is found within a millisecond.
   * @returns the sender's place in the group.
   */
  recvAny(x: CollectiveBuffer, options?: CallOptions & In): Promise<number>;

  // Uneven forms: lists have an entry a member, in elements; without displacements, segments lie one behind the other. But for an
  // all-to-all's, counts are the same list on all ranks, and only calls of equal lists match. Their buffers must not overlap, but where
  // allGatherV() and reduceScatterV() work in place as allGather() and reduceScatter() do.

  /**
   * Each rank knows its own counts only: what it sends to a member must be what that one expects of it. So counts don't tell two of them
   * apart: those of equal group, type and tag are called in one order on all ranks; tags of their own leave them any.
   */
  allToAllV(
    send: CollectiveBuffer,
    sendCounts: Counts,
    recv: CollectiveBuffer,
    recvCounts: Counts,
    options?: UnevenOptions & { readonly sendDisplacements?: Counts; readonly recvDisplacements?: Counts } & In,
  ): Promise<void>;
  /** `counts[i]` elements come from the rank at place i; the same list on all ranks. */
  allGatherV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options?: UnevenOptions & DisplacementsOption & In,
  ): Promise<void>;
  /** `counts[i]` elements of the combined vector go to the rank at place i; the same list on all ranks. */
  reduceScatterV(send: CollectiveBuffer, recv: CollectiveBuffer, counts: Counts, options?: UnevenOptions & OpOption & In): Promise<void>;
  /** `counts[i]` elements come from the rank at place i. Only the root's `recv` and `displacements` are used. */
  gatherV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer | null | undefined,
    counts: Counts,
    options?: UnevenOptions & DisplacementsOption & RootOption & In,
  ): Promise<void>;
  /** `counts[i]` elements go to the rank at place i. Only the root's `send` and `displacements` are used. */
  scatterV(
    send: CollectiveBuffer | null | undefined,
    recv: CollectiveBuffer,
    counts: Counts,
    options?: UnevenOptions & DisplacementsOption & RootOption & In,
  ): Promise<void>;
}

/** From whom something was received. */
export interface Received {
  /** The sender's place in the group; undefined before. */
  readonly source: number | undefined;
}

/**
 * The methods of {@link Collectives} as calls that a batch keeps until it is submitted: none has a promise, or a limit, of its own.
 * Whoever receives from any rank reads who it was once the batch is over.
 */
export type BatchedCalls = {
  readonly [Name in keyof Collectives]: (
    ...args: Parameters<Collectives<InGroup>[Name]>
  ) => ReturnType<Collectives[Name]> extends Promise<void> ? void : Received;
};

export interface BatchOfCallsOptions {
  /** Reject after so many milliseconds, naming who is missing. What is in flight stays so. */
  readonly timeoutMs?: number;
}

/** `[member]`, in elements. */
export type Counts = ArrayLike<number>;
export type UnevenOptions = Omit<CallOptions, "count">;
export interface DisplacementsOption {
  /** Where each member's segment begins. */
  readonly displacements?: Counts;
}

export interface GroupOptions {
  /** Tells groups of the same ranks apart; default 0. */
  readonly name?: Tag;
}

/**
 * One rank's membership in a group of ranks (a communicator); made by `rank.group()` or `group.split()`. Never waits for the others: each
 * makes and drops groups when it likes. The n-th group that a rank makes of the same ranks and name goes with the n-th of the others.
 */
export interface Group extends Collectives, Disposable {
  /** This rank's place in the group. */
  readonly rank: number;
  readonly size: number;
  /** Ranks of the world, in the group's order. */
  readonly ranks: readonly number[];
  /**
   * The group's members of the same colour, by ascending key, and among equal keys by their place in this group. Every member calls it,
   * as often as the others do, and waits for them.
   * @param colour - whole; below 0: in none.
   * @param key - whole; default: by place.
   * @returns undefined with a colour below 0.
   * @throws {CollectiveTimeoutError} naming who is missing: the split is then given up on those that have come.
   */
  split(colour: number, key?: number, options?: { readonly timeoutMs?: number }): Promise<Group | undefined>;
  /**
   * Forgets the group; what is called on it later fails. Twice is fine.
   * @throws {EngineError} IN_USE while runs of it are in flight on this rank.
   */
  drop(): void;
  /**
   * Gives up all that this rank has in flight in the group, on the members that have come to those runs: promises reject with
   * {@link CollectiveAbortedError}. What is called on this object later does so too, so that members who come later wait in vain: abort
   * the group on each.
   */
  abort(): void;
}
