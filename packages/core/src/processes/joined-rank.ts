import { checkOptions } from "@dfccl/primitives";
import type { World } from "../api.js";
import type { Backend } from "../backend.js";
import type { Engine } from "../engine.js";
import { EngineError } from "../errors.js";
import { callNative } from "../native-addon/native-error.js";
import type { LostRank } from "../native-addon/native-reports.js";
import { LocalRank } from "../rank.js";
import { checkTimeout } from "../timeout.js";

/** This process's rank in a world of processes; made by `joinWorld()`. Closing it leaves the world. */
export class JoinedRank<B extends Backend = "cpu"> extends LocalRank<B> implements Disposable, AsyncDisposable {
  readonly #engine: Engine;
  #agreement: Promise<number[]> | undefined;

  /** @internal */
  constructor(world: World<B>, engine: Engine, number: number) {
    super(world, engine, number);
    this.#engine = engine;
  }

  /** Ranks of the world, those that are gone included. */
  get size(): number {
    return this.#engine.size;
  }

  /** Ranks that are gone: their processes ended, closed their world, or gave no sign of life for too long. */
  lostRanks(): readonly LostRank[] {
    this.#engine.requireOpen();
    return callNative(() => this.#engine.native.lostRanks());
  }

  /** The ranks that are still there, as this process sees it now. Another may see it otherwise: {@link agreeOnSurvivors}. */
  survivors(): number[] {
    const lost = new Set(this.lostRanks().map(({ rank }) => rank));
    return Array.from({ length: this.size }, (_, rank) => rank).filter((rank) => !lost.has(rank));
  }

  /**
   * The ranks to go on with, ascending: a list for `register({ ranks })`, the same on all of them, whoever has died or dies
   * meanwhile. Every rank that lives calls it, as often as the others do; it waits for them. Calls of one rank that overlap get
   * one answer.
   * @param options.timeoutMs - for the others to come; default 60,000.
   * @throws {EngineError} TIMEOUT with the ranks that didn't come in `facts.missing`: call it again, or end them; ABORTED where the
   *   others have given this rank up, or, on several machines, where those that it reaches are too few to go on.
   */
  async agreeOnSurvivors(options: { readonly timeoutMs?: number } = {}): Promise<number[]> {
    checkOptions("options", options, { timeoutMs: true }, "an object such as { timeoutMs: 5000 }");
    const { timeoutMs = 60_000 } = options;
    this.#agreement ??= this.#agree(timeoutMs).finally(() => {
      this.#agreement = undefined;
    });
    return this.#agreement;
  }

  async #agree(timeoutMs: number): Promise<number[]> {
    this.#engine.requireOpen();
    checkTimeout(timeoutMs);
    const { native, pump } = this.#engine;
    const deadline = performance.now() + timeoutMs;
    const found: number[] = [];
    await pump.until(() => {
      const survivors = callNative(() => native.agreeOnSurvivors());
      if (survivors !== null) found.push(...survivors);
      // Nobody looks after the deadline, so no answer is lost to a caller who has gone.
      else if (performance.now() > deadline) {
        const missing = callNative(() => native.awaitedByAgreement());
        // None: they have come by now, and the next look has the answer.
        if (missing.length > 0) throw agreementTimeout(timeoutMs, missing);
      }
      return survivors !== null;
    });
    return found;
  }

  /** Leaves the world and fails what is in flight. The other ranks' collectives with this one end with an error there. */
  close(): void {
    this.#engine.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

function agreementTimeout(timeoutMs: number, missing: readonly number[]): EngineError {
  return new EngineError(
    "TIMEOUT",
    `The agreement on the survivors waited ${timeoutMs / 1000} s for ranks that live: ${missing.join(", ")}.`,
    "Every rank has to call agreeOnSurvivors(): see what those do, then call it again, or end their processes.",
    { timeoutMs, missing },
  );
}
