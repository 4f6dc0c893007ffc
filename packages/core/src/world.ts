import { availableParallelism } from "node:os";
import { type InspectOptions, inspect } from "node:util";
import { checkInteger, checkObject, checkOptions, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import { encodePolicy, type PolicyName, policyByName, policyNames, type SchedulePolicy } from "@dfccl/scheduler";
import { type Backend, type BackendChoice, type ChosenBackend, chooseBackend } from "./backend.js";
import { cpuPolicy } from "./cpu-policy.js";
import { Engine } from "./engine.js";
import { gpuPolicy, gpuTileBytes } from "./gpu-policy.js";
import type { DeadlockReport, NativeWorldOptions } from "./native-addon/native-world.js";
import { Rank } from "./rank.js";
import { summary } from "./summary.js";

export interface WorldOptions<Choice extends BackendChoice = BackendChoice> {
  /** Ranks in this process, 1 to 1024. */
  readonly ranks: number;
  /**
   * Where collectives execute: "cpu" (the default), "cuda", or "auto", which takes GPUs where they can be used. Asked for
   * explicitly, because what `rank.allocate` gives differs.
   */
  readonly backend?: Choice;
  /** GPU of each rank; default: rank r has GPU r, again from 0 where there are no more. */
  readonly devices?: readonly number[];
  /** How each rank schedules: a name, or plain data from `@dfccl/scheduler`. Default "default". */
  readonly policy?: PolicyName | SchedulePolicy;
  /** For policy "in-order": collectives that run at once. Default 1. */
  readonly streams?: number;
  /** Engine threads; default one less than there are cores, at least 1. 0: only callers step. */
  readonly workers?: number;
  /** Blocks of each rank's daemon; default on a CPU as many as cores per rank, at least 1; on a GPU 17. */
  readonly blocks?: number;
  /** Entries of each submission queue: a power of two up to 32768, default 4096 (GPU: 1024). */
  readonly submissionSlots?: number;
  /** Runs in flight on a rank: a power of two from 8, default 4096 (GPU: 1024, which is the most there). */
  readonly completionSlots?: number;
  /** Collectives registered at once on a rank, default 4096 (GPU: 1024, which is the most there). */
  readonly maxCollectives?: number;
  /** Program blocks of them together, default twice as many (GPU: 8192, which is the most there). */
  readonly maxTasks?: number;
  /**
   * Bound on connector and scratch memory in bytes, default 1 GiB: of the world, reserved but not touched at start; on
   * GPUs of each rank, and taken at start.
   */
  readonly arenaBytes?: number;
  /** Payload of a connector's slot in bytes, default 32 KiB (GPU: 128 KiB; protocols with flags take 64 KiB at most there). */
  readonly slotPayloadBytes?: number;
  /**
   * Slice of direct programs in bytes, default 64 KiB (GPU: 3.99 MiB, of which all threads have the same share; at most
   * 1 MiB where a block does several things by turns).
   */
  readonly directTileBytes?: number;
}

/** Those that joinWorld() has too. */
export const sharedOptionNames = {
  backend: true,
  devices: true,
  policy: true,
  workers: true,
  blocks: true,
  submissionSlots: true,
  completionSlots: true,
  maxCollectives: true,
  maxTasks: true,
  arenaBytes: true,
  slotPayloadBytes: true,
  directTileBytes: true,
} as const;
const example = "an object such as { ranks: 4 }";
const optionNames: OptionNames<WorldOptions> = { ranks: true, streams: true, ...sharedOptionNames };

/**
 * All ranks of this process.
 * @throws {InvalidArgumentError} for a value out of range, UnknownOptionError; {@link EngineError} OUT_OF_MEMORY, SYSTEM, and UNAVAILABLE where
 *   GPUs are asked for and can't be used; AddonNotLoadedError.
 */
export function openWorld<const Choice extends BackendChoice = "cpu">(options: WorldOptions<Choice>): World<ChosenBackend<Choice>> {
  checkOptions<WorldOptions>("options", options, optionNames, example);
  const { options: ofEngine, policy } = nativeOptions(options);
  const engine = new Engine(ofEngine, { inOrder: policy.streams > 0, isJoined: false });
  return new World<ChosenBackend<Choice>>(engine, policy, (world) =>
    Array.from({ length: engine.size }, (_, number) => new Rank<ChosenBackend<Choice>>(world, engine, number)),
  );
}

// What an engine's tables hold: native/src/world/world_options.cpp, cuda/device/block_shared.cuh.
const mostCollectives: Readonly<Record<Backend, number>> = { cpu: 2 ** 20, cuda: 1024 };
const mostTasks: Readonly<Record<Backend, number>> = { cpu: 2 ** 24, cuda: 8192 };

/**
 * Options that are whole numbers, and the least that each may be. How large, the engine knows, and says; of those that it calls
 * by another name, it is said here.
 */
const numbers: Readonly<Record<string, readonly [least: number, most?: number]>> = {
  workers: [0],
  blocks: [1, 65],
  submissionSlots: [1],
  completionSlots: [8],
  maxCollectives: [1, mostCollectives.cpu],
  maxTasks: [1, mostTasks.cpu],
  arenaBytes: [0],
  slotPayloadBytes: [1],
  directTileBytes: [1],
} satisfies Partial<Record<keyof WorldOptions, readonly [number, number?]>>;

/**
 * Options as the engine takes them.
 * @throws {InvalidArgumentError}
 */
export function nativeOptions(options: WorldOptions): { readonly options: NativeWorldOptions; readonly policy: SchedulePolicy } {
  checkObject("options", options, example);
  const { ranks, devices, backend = "cpu" } = options;
  checkInteger("ranks", ranks, 1, 1024);
  if (!["cpu", "cuda", "auto"].includes(backend)) throw new InvalidArgumentError("backend", backend, '"cpu", "cuda" or "auto"');
  if (devices !== undefined && !(Array.isArray(devices) && devices.every((device) => Number.isInteger(device) && device >= 0))) {
    throw new InvalidArgumentError("devices", devices, "a list of GPUs, each a whole number from 0");
  }
  for (const [name, [least, most]] of Object.entries(numbers)) {
    const value = options[name as keyof WorldOptions];
    if (value !== undefined) checkInteger(name, value, least, most);
  }
  const chosen = chooseBackend(backend);
  const onGpu = chosen === "cuda";
  const policy = policyOf(options, chosen);
  const cores = availableParallelism();
  const slots = onGpu ? 1024 : 4096;
  const maxCollectives = options.maxCollectives ?? slots;
  const maxTasks = options.maxTasks ?? (onGpu ? 8192 : 2 * maxCollectives);
  checkInteger("maxCollectives", maxCollectives, 1, mostCollectives[chosen]);
  checkInteger("maxTasks", maxTasks, 1, mostTasks[chosen]);
  if (maxTasks < maxCollectives) {
    throw new InvalidArgumentError("maxTasks", maxTasks, `a whole number from maxCollectives, which is ${maxCollectives}`);
  }
  return {
    policy,
    options: {
      backend: chosen,
      ...(devices === undefined ? {} : { devices: Int32Array.from(devices) }),
      ranks,
      grid: options.blocks ?? (onGpu ? 17 : Math.max(1, Math.floor(cores / ranks))),
      submissionSlots: options.submissionSlots ?? slots,
      completionSlots: options.completionSlots ?? slots,
      collectives: maxCollectives,
      tasks: maxTasks,
      slotPayloadBytes: options.slotPayloadBytes ?? (onGpu ? 128 << 10 : 32 << 10),
      directTileBytes: options.directTileBytes ?? (onGpu ? gpuTileBytes : 64 << 10),
      arenaBytes: options.arenaBytes ?? 2 ** 30,
      workers: options.workers ?? Math.max(1, cores - 1),
      policy: encodePolicy(policy),
    },
  };
}

/** @internal */
export let engineOf: (world: World<Backend>) => Engine;

/** Ranks that live in this process; made by {@link openWorld}, or by `joinWorld()` around one rank of many processes. */
export class World<B extends Backend = "cpu"> implements Disposable, AsyncDisposable {
  /** This process's ranks. */
  readonly ranks: readonly Rank<B>[];
  /** Ranks of the world, those of other processes included. */
  readonly size: number;
  /** The policy in force. */
  readonly policy: SchedulePolicy;
  readonly backend: B;
  readonly #engine: Engine;

  static {
    engineOf = (world) => world.#engine;
  }

  /** @internal */
  constructor(engine: Engine, policy: SchedulePolicy, makeRanks: (world: World<B>) => readonly Rank<B>[]) {
    if (!(engine instanceof Engine)) throw new InvalidArgumentError("engine", engine, "worlds of openWorld() or joinWorld() instead");
    this.#engine = engine;
    this.policy = policy;
    this.backend = engine.backend as B;
    this.size = engine.size;
    this.ranks = makeRanks(this);
  }

  /** Until close(). */
  get isOpen(): boolean {
    return this.#engine.isOpen;
  }

  /** In-order worlds: the cycle that the engine's watchdog found, or undefined. */
  deadlock(): DeadlockReport | undefined {
    this.#engine.requireOpen();
    return this.#engine.native.deadlock() ?? undefined;
  }

  /** Bytes of connectors and scratch memory: of what is registered, and of what it may take over from former registrations. */
  arenaBytesInUse(): number {
    this.#engine.requireOpen();
    return this.#engine.native.memoryUse();
  }

  /**
   * Stops the engine's threads and fails what is in flight with {@link ClosedError}. Twice is fine. Buffers are free at
   * once: nothing steps any more.
   */
  close(): void {
    this.#engine.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** What console.log() shows. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { size, backend, policy, isOpen } = this;
    const { isJoined } = this.#engine;
    return summary("World", { size, backend, order: policy.order.kind, stickiness: policy.stickiness.kind, isJoined, isOpen }, options);
  }
}

function policyOf({ policy = "default", streams }: WorldOptions, backend: Backend): SchedulePolicy {
  if (typeof policy !== "string") return policy;
  if (!policyNames.includes(policy)) {
    throw new InvalidArgumentError("policy", policy, `one of ${policyNames.join(", ")}, or plain data as policyByName() returns it`);
  }
  const overrides = backend === "cuda" ? gpuPolicy(policy) : cpuPolicy(policy);
  return policyByName(policy, { ...overrides, ...(streams === undefined ? {} : { streams }) });
}
