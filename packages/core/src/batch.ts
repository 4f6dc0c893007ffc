import { type InspectOptions, inspect } from "node:util";
import { checkOptions, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import type * as api from "./api.js";
import type { BatchOptions, CompletedRun, RegisteredCollective } from "./api.js";
import { CollectiveAbortedError, CountMismatchError, RankLostError } from "./errors.js";
import { summary } from "./summary.js";

const optionNames: OptionNames<BatchOptions> = { onComplete: true };

/** @throws {InvalidArgumentError}, {@link UnknownOptionError} */
export function checkBatchOptions(options: BatchOptions): void {
  checkOptions("options", options, optionNames, "an object such as { onComplete: (run) => {} }");
}

/** @internal A run of the batch has completed, or (with a failure) never will. */
export let completeRun: (batch: LocalBatch, collective: RegisteredCollective, position: number, failure: unknown) => void;
/** @internal Nothing more will come: the world was closed, or deadlocked in order. */
export let failBatch: (batch: LocalBatch, error: unknown) => void;

/** The class behind {@link Batch}. */
export class LocalBatch implements api.Batch {
  #outstanding: number;
  #failure: unknown;
  #promise: Promise<void> | undefined;
  #settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  readonly #onComplete: ((run: CompletedRun) => void) | undefined;

  static {
    completeRun = (batch, collective, position, failure) => batch.#complete(collective, position, failure);
    failBatch = (batch, error) => batch.#fail(error);
  }

  /** @internal */
  constructor(
    readonly size: number,
    onComplete: ((run: CompletedRun) => void) | undefined,
  ) {
    if (onComplete !== undefined && typeof onComplete !== "function")
      throw new InvalidArgumentError("onComplete", onComplete, "a function");
    this.#onComplete = onComplete;
    this.#outstanding = size;
  }

  /** What console.log() shows. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { size, pending } = this;
    return summary("Batch", { size, pending }, options);
  }

  get pending(): number {
    return this.#outstanding;
  }

  #complete(collective: RegisteredCollective, position: number, failure: unknown): void {
    if (this.#outstanding === 0) return; // It has failed as a whole.
    if (failure !== undefined) this.#failure ??= failure;
    this.#outstanding -= 1;
    if (this.#onComplete !== undefined) this.#callBack(this.#onComplete, collective, position, failure);
    if (this.#outstanding === 0) this.#finish();
  }

  #fail(error: unknown): void {
    if (this.#outstanding === 0) return;
    this.#outstanding = 0;
    this.#failure = error;
    this.#finish();
  }

  // biome-ignore lint/suspicious/noThenProperty: a batch is awaited as it is
  then<T = void, E = never>(
    // biome-ignore lint/suspicious/noConfusingVoidType: the signature of PromiseLike<void>
    onFulfilled?: ((value: void) => T | PromiseLike<T>) | null,
    onRejected?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<T | E> {
    this.#promise ??= new Promise<void>((resolve, reject) => {
      this.#settle = { resolve, reject };
      if (this.#outstanding === 0) this.#finish();
    });
    return this.#promise.then(onFulfilled, onRejected);
  }

  #callBack(onComplete: (run: CompletedRun) => void, collective: RegisteredCollective, position: number, failure: unknown): void {
    try {
      onComplete({ collective, position, status: statusOf(failure) });
    } catch (error) {
      // The other runs' completions must still be delivered; the error surfaces as an uncaught exception, as in a timer.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  #finish(): void {
    if (!this.#settle) return;
    if (this.#failure === undefined) this.#settle.resolve();
    else this.#settle.reject(this.#failure);
  }
}

/**
 * Told from other things by `instanceof`; a batch is made by `rank.submit()`.
 * @alias
 */
export const Batch = LocalBatch;
export type Batch = api.Batch;

function statusOf(failure: unknown): CompletedRun["status"] {
  if (failure === undefined) return "completed";
  if (failure instanceof CountMismatchError) return "mismatched";
  return failure instanceof CollectiveAbortedError || failure instanceof RankLostError ? "aborted" : "refused";
}
