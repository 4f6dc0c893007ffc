import { availableParallelism } from "node:os";
import { InvalidArgumentError } from "@dfccl/primitives";
import { encodePolicy, type PolicyName, policyByName, type SchedulePolicy } from "@dfccl/scheduler";
import { CompletionPump } from "./completion-pump.js";
import { cpuPolicy } from "./cpu-policy.js";
import { ClosedError } from "./errors.js";
import { callNative } from "./native-addon/native-error.js";
import {
  type DeadlockReport,
  type MemoryWindow,
  type NativeWorld,
  type NativeWorldOptions,
  nativeAddon,
} from "./native-addon/native-world.js";
import { Rank } from "./rank.js";

export interface WorldOptions {
  /** Ranks in this process, 1 to 1024. */
  readonly ranks: number;
  /** Where collectives execute. "auto" (the default) takes the best that works here; this build has the CPU. */
  readonly backend?: "auto" | "cpu";
  /** How each rank schedules: a name, or plain data from `@dfccl/scheduler`. Default "default". */
  readonly policy?: PolicyName | SchedulePolicy;
  /** For policy "in-order": collectives that run at once. Default 1. */
  readonly streams?: number;
  /** Engine threads; default one less than there are cores, at least 1. 0: only callers step. */
  readonly workers?: number;
  /** Blocks of each rank's daemon; default as many as cores per rank, at least 1. */
  readonly blocks?: number;
  /** Entries of each submission queue: a power of two up to 32768, default 4096. */
  readonly submissionSlots?: number;
  /** Runs in flight on a rank: a power of two from 8, default 4096. */
  readonly completionSlots?: number;
  /** Collectives registered at once on a rank, default 4096. */
  readonly maxCollectives?: number;
  /** Program blocks of them together, default twice as many. */
  readonly maxTasks?: number;
  /** Bound on connector and scratch memory in bytes, reserved but not touched at start; default 1 GiB. */
  readonly arenaBytes?: number;
  /** Payload of a connector's slot in bytes, default 32 KiB. */
  readonly slotPayloadBytes?: number;
  /** Slice of direct programs in bytes, default 64 KiB. */
  readonly directTileBytes?: number;
}

/**
 * All ranks of this process.
 * @throws {InvalidArgumentError} for a value out of range; {@link EngineError} OUT_OF_MEMORY, SYSTEM; AddonNotLoadedError.
 */
export function openWorld(options: WorldOptions): World {
  return new World(options);
}

/** Where the ranks are processes: this one's part of the world. */
export interface JoinedPart {
  readonly native: NativeWorldOptions;
  readonly makeRanks: (world: World) => readonly Rank[];
}

/**
 * Options as the engine takes them.
 * @throws {InvalidArgumentError}
 */
export function nativeOptions(options: WorldOptions): { readonly options: NativeWorldOptions; readonly policy: SchedulePolicy } {
  const { ranks, backend = "auto" } = options;
  if (!Number.isInteger(ranks) || ranks < 1 || ranks > 1024) {
    throw new InvalidArgumentError("ranks", ranks, "a whole number from 1 to 1024");
  }
  if (backend !== "auto" && backend !== "cpu") throw new InvalidArgumentError("backend", backend, '"auto" or "cpu"');
  const policy = policyOf(options);
  const cores = availableParallelism();
  const maxCollectives = options.maxCollectives ?? 4096;
  return {
    policy,
    options: {
      ranks,
      grid: options.blocks ?? Math.max(1, Math.floor(cores / ranks)),
      submissionSlots: options.submissionSlots ?? 4096,
      completionSlots: options.completionSlots ?? 4096,
      collectives: maxCollectives,
      tasks: options.maxTasks ?? 2 * maxCollectives,
      slotPayloadBytes: options.slotPayloadBytes ?? 32 << 10,
      directTileBytes: options.directTileBytes ?? 64 << 10,
      arenaBytes: options.arenaBytes ?? 2 ** 30,
      workers: options.workers ?? Math.max(1, cores - 1),
      policy: encodePolicy(policy),
    },
  };
}

/** Ranks that live in this process; made by {@link openWorld}, or by `joinWorld()` around one rank of many processes. */
export class World implements Disposable, AsyncDisposable {
  /** This process's ranks. */
  readonly ranks: readonly Rank[];
  /** Ranks of the world, those of other processes included. */
  readonly size: number;
  /** The policy in force. */
  readonly policy: SchedulePolicy;
  readonly backend = "cpu";
  /** @internal */
  readonly native: NativeWorld;
  /** @internal Addresses that the other processes can reach; undefined where there is no other process. */
  readonly window: MemoryWindow | undefined;
  /** @internal */
  readonly pump: CompletionPump;
  /** @internal */
  isOpen = true;

  /** @internal */
  constructor(options: WorldOptions, joined?: JoinedPart) {
    const { options: ofWorld, policy } = nativeOptions(options);
    this.policy = policy;
    this.size = ofWorld.ranks;
    this.native = callNative(() => new (nativeAddon().NativeWorld)(joined?.native ?? ofWorld));
    this.window = this.native.window() ?? undefined;
    this.ranks = joined?.makeRanks(this) ?? Array.from({ length: this.size }, (_, number) => new Rank(this, number));
    this.pump = new CompletionPump(this.native, () => this.ranks, { canPark: ofWorld.workers > 0, inOrder: policy.streams > 0 });
  }

  /** In-order worlds: the cycle that the engine's watchdog found, or undefined. */
  deadlock(): DeadlockReport | undefined {
    this.requireOpen();
    return this.native.deadlock() ?? undefined;
  }

  /** Bytes of connectors and scratch memory: of what is registered, and of what it may take over from former registrations. */
  arenaBytesInUse(): number {
    this.requireOpen();
    return this.native.memoryUse();
  }

  /**
   * Stops the engine's threads and fails what is in flight with {@link ClosedError}. Twice is fine. Buffers are free at
   * once: nothing steps any more.
   */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.native.close();
    this.pump.stop(new ClosedError("The world"));
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** @internal */
  requireOpen(): void {
    if (!this.isOpen) throw new ClosedError("The world");
  }
}

function policyOf({ policy = "default", streams }: WorldOptions): SchedulePolicy {
  if (typeof policy !== "string") return policy;
  return policyByName(policy, { ...cpuPolicy(policy), ...(streams === undefined ? {} : { streams }) });
}
