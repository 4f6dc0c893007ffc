import { type InspectOptions, inspect } from "node:util";
import { checkOptions, InvalidArgumentError } from "@dfccl/primitives";
import type { SchedulePolicy } from "@dfccl/scheduler";
import type { Backend, BackendChoice, ChosenBackend } from "./backend.js";
import { Engine } from "./engine.js";
import type { DeadlockReport } from "./native-addon/native-world.js";
import { nativeOptions } from "./native-options.js";
import { Rank } from "./rank.js";
import { summary } from "./summary.js";
import { type WorldOptions, worldOptionNames, worldOptionsExample } from "./world-options.js";

/**
 * All ranks of this process.
 * @throws {InvalidArgumentError} for a value out of range, UnknownOptionError; {@link EngineError} OUT_OF_MEMORY, SYSTEM, and UNAVAILABLE where
 *   GPUs are asked for and can't be used; AddonNotLoadedError.
 */
export function openWorld<const Choice extends BackendChoice = "cpu">(options: WorldOptions<Choice>): World<ChosenBackend<Choice>> {
  checkOptions<WorldOptions>("options", options, worldOptionNames, worldOptionsExample);
  const { options: ofEngine, policy } = nativeOptions(options, "process");
  const engine = new Engine(ofEngine, { inOrder: policy.streams > 0, isJoined: false });
  return new World<ChosenBackend<Choice>>(engine, policy, (world) =>
    Array.from({ length: engine.size }, (_, number) => new Rank<ChosenBackend<Choice>>(world, engine, number)),
  );
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
