import { type InspectOptions, inspect } from "node:util";
import { checkOptions, InvalidArgumentError } from "@dfccl/primitives";
import type { SchedulePolicy } from "@dfccl/scheduler";
import type * as api from "./api.js";
import type { Rank } from "./api.js";
import type { Backend, BackendChoice, ChosenBackend } from "./backend.js";
import { Engine } from "./engine.js";
import type { DeadlockReport } from "./native-addon/native-reports.js";
import { nativeOptions } from "./native-options.js";
import { LocalRank } from "./rank.js";
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
  return new LocalWorld<ChosenBackend<Choice>>(engine, policy, (world) =>
    Array.from({ length: engine.size }, (_, number) => new LocalRank<ChosenBackend<Choice>>(world, engine, number)),
  );
}

/** @internal */
export let engineOf: (world: World<Backend>) => Engine;

/** The class behind {@link World}. */
export class LocalWorld<B extends Backend = "cpu"> implements api.World<B> {
  readonly ranks: readonly Rank<B>[];
  readonly size: number;
  readonly policy: SchedulePolicy;
  readonly backend: B;
  readonly #engine: Engine;

  static {
    engineOf = (world) => (world as LocalWorld<Backend>).#engine;
  }

  /** @internal */
  constructor(engine: Engine, policy: SchedulePolicy, makeRanks: (world: World<B>) => readonly Rank<B>[]) {
    if (!(engine instanceof Engine)) throw new InvalidArgumentError("engine", engine, "worlds of openWorld() or joinWorld() instead");
    this.#engine = engine;
    this.policy = policy;
    this.backend = engine.backend as B;
    this.size = engine.size;
    try {
      this.ranks = Object.freeze(makeRanks(this));
    } catch (error) {
      engine.close(); // Nobody gets hold of the world, whose threads or seat would stay.
      throw error;
    }
    Object.freeze(this);
  }

  get isOpen(): boolean {
    return this.#engine.isOpen;
  }

  deadlock(): DeadlockReport | undefined {
    this.#engine.requireOpen();
    return this.#engine.native.deadlock() ?? undefined;
  }

  arenaBytesInUse(): number {
    this.#engine.requireOpen();
    return this.#engine.native.memoryUse();
  }

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

/**
 * Told from other things by `instanceof`; a world is made by {@link openWorld} or `joinWorld()`.
 * @alias
 */
export const World = LocalWorld;
export type World<B extends Backend = "cpu"> = api.World<B>;
