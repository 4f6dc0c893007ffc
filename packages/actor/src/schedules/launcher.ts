import { checkFunction, formatValue, InvalidArgumentError, readArgument } from "@dfccl/primitives";
import type { Communicator, RegisteredReduction } from "./communicator.js";
import { GradientError } from "./errors.js";
import type { GradientTensor, ReducerStatistics } from "./gradient-reducer.js";

/** A gradient that was handed in and has not been reduced yet. */
export interface PendingGradient {
  readonly tensor: GradientTensor;
  readonly data: Float32Array;
  readonly onReduced: (failure: unknown) => void;
}

/** What every schedule has: the tensors' registrations, the gradients in flight, and the end of a step. */
export class Launcher {
  readonly counts = { reduced: 0, submitted: 0, batches: 0, messages: 0 };
  private readonly tensors = new Map<number, GradientTensor>();
  private readonly reductions = new Map<number, RegisteredReduction>();
  private readonly pending = new Map<number, PendingGradient>();
  private failure: unknown;
  private waiting: (() => void)[] = [];

  /** @throws {InvalidArgumentError} naming the tensor that is wrong. */
  constructor(
    readonly communicator: Communicator,
    tensors: readonly GradientTensor[],
  ) {
    for (const tensor of tensors) {
      if (!Number.isInteger(tensor.id) || tensor.id < 0) throw new InvalidArgumentError("id", tensor.id, "a whole number from 0");
      if (this.tensors.has(tensor.id)) throw new InvalidArgumentError("id", tensor.id, "each id once");
      if (!Number.isInteger(tensor.elements) || tensor.elements < 1) {
        throw new InvalidArgumentError(`elements of gradient ${nameOf(tensor)}`, tensor.elements, "a whole number from 1");
      }
      this.tensors.set(tensor.id, tensor);
    }
  }

  /** Gradients that wait or are being reduced. */
  get pendingCount(): number {
    return this.pending.size;
  }

  tensor(id: number): GradientTensor {
    const tensor = this.tensors.get(id);
    if (tensor === undefined) {
      throw new GradientError(formatValue(id), "isn't known", "Name it among the tensors that the reducer is opened with.", { id });
    }
    return tensor;
  }

  /** Checks a gradient and takes it in; nothing is submitted yet. */
  take(id: number, data: Float32Array, onReduced: (failure: unknown) => void): PendingGradient {
    const tensor = this.tensor(id);
    checkFunction("onReduced", onReduced, "a function that gets the failure, if there is one");
    const isArray = readArgument("data", `a Float32Array of ${tensor.elements}`, () => data instanceof Float32Array);
    if (!isArray || data.length !== tensor.elements) {
      const given = isArray ? `has ${data.length} elements` : "isn't a Float32Array";
      throw new GradientError(nameOf(tensor), given, `Give a Float32Array of ${tensor.elements}.`, { id, elements: tensor.elements });
    }
    if (this.pending.has(id)) {
      throw new GradientError(nameOf(tensor), "is being reduced already", "Wait for its callback before the next step hands it in.", {
        id,
      });
    }
    const gradient = { tensor, data, onReduced };
    this.pending.set(id, gradient);
    return gradient;
  }

  /** Submits gradients, each as an all-reduce of its own, published together. */
  launch(gradients: readonly PendingGradient[]): void {
    this.attempt(gradients, () =>
      this.submit(
        gradients.map(({ tensor, data }) => ({ reduction: this.reduction(tensor.id, tensor.elements, tensor.priority ?? 0), data })),
        (position, failure) => {
          const gradient = gradients[position];
          if (gradient !== undefined) this.finish(gradient, failure);
        },
      ),
    );
  }

  /** What can't be submitted has failed: it ends later, as everything does, and keeps nobody waiting. */
  attempt(gradients: readonly PendingGradient[], submit: () => void): void {
    try {
      submit();
    } catch (failure) {
      queueMicrotask(() => {
        for (const gradient of gradients) this.finish(gradient, failure);
      });
    }
  }

  submit(
    requests: readonly { readonly reduction: RegisteredReduction; readonly data: Float32Array }[],
    onEnd: (position: number, failure: unknown) => void,
  ): void {
    this.counts.submitted += requests.length;
    this.counts.batches += 1;
    this.communicator.submit(requests, onEnd);
  }

  /** The all-reduce of this id, registered when it is needed first. */
  reduction(id: number, elements: number, priority: number): RegisteredReduction {
    let reduction = this.reductions.get(id);
    if (reduction === undefined) {
      reduction = this.communicator.register({ id, elements, priority });
      this.reductions.set(id, reduction);
    }
    return reduction;
  }

  /** Registers every tensor now, so that the first step doesn't pay for it. */
  registerAll(): void {
    for (const { id, elements, priority = 0 } of this.tensors.values()) this.reduction(id, elements, priority);
  }

  finish(gradient: PendingGradient, failure: unknown): void {
    if (this.pending.get(gradient.tensor.id) !== gradient) return; // it has ended already
    this.pending.delete(gradient.tensor.id);
    if (failure === undefined) this.counts.reduced += 1;
    else this.failure ??= failure;
    // Callbacks may hand in the next gradient, so the step's end is looked at last.
    try {
      gradient.onReduced(failure);
    } catch (thrown) {
      this.failure ??= thrown; // other gradients of the batch still have to end, and so has the step
    }
    if (this.pending.size > 0) return;
    const waiting = this.waiting;
    this.waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves when nothing is pending; rejects with the first failure since the last call. */
  async drained(): Promise<void> {
    if (this.pending.size > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    const failure = this.failure;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }

  statistics(): ReducerStatistics {
    return { ...this.counts };
  }

  close(): void {
    for (const reduction of this.reductions.values()) reduction.close();
    this.reductions.clear();
  }
}

export function nameOf({ id, name }: GradientTensor): string {
  return name === undefined ? String(id) : `${id} (${name})`;
}

/** `reduce()` in terms of `ready()`. */
export function asPromise(ready: (onReduced: (failure: unknown) => void) => void): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    ready((failure) => (failure === undefined ? resolve() : reject(failure)));
  });
}
