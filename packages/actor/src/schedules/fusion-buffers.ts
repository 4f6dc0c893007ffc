import type { RegisteredReduction } from "./communicator.js";
import type { Launcher, PendingGradient } from "./launcher.js";

/**
 * Reduces several gradients by one all-reduce over a buffer that they are copied into and back from. Buffers have sizes of a
 * few classes, so that a handful of registrations serves any mixture.
 */
export class FusionBuffers {
  private readonly free = new Map<number, Float32Array[]>();

  /** @param firstId - ids from here on belong to fused all-reduces: 1024 of them at most. */
  constructor(
    private readonly launcher: Launcher,
    private readonly firstId: number,
  ) {}

  /** @pre every rank launches the same gradients in the same order. */
  launch(gradients: readonly PendingGradient[]): void {
    this.launcher.attempt(gradients, () => this.fuse(gradients));
  }

  private fuse(gradients: readonly PendingGradient[]): void {
    const needed = gradients.reduce((sum, { tensor }) => sum + tensor.elements, 0);
    const { elements, index } = sizeClass(needed);
    const reduction: RegisteredReduction = this.launcher.reduction(this.firstId + index, elements, 0);
    // Of more classes than there are buffers: new memory costs more than what is copied into it.
    const capacity = 2 ** Math.ceil(Math.log2(elements));
    const free = this.free.get(capacity) ?? [];
    this.free.set(capacity, free);
    const buffer = free.pop() ?? this.launcher.communicator.allocate(capacity);
    let at = 0;
    for (const { data } of gradients) {
      buffer.set(data, at);
      at += data.length;
    }
    this.launcher.submit([{ reduction, data: buffer }], (_position, failure) => {
      let from = 0;
      for (const { data } of gradients) {
        if (failure === undefined) data.set(buffer.subarray(from, from + data.length));
        from += data.length;
      }
      free.push(buffer);
      for (const gradient of gradients) this.launcher.finish(gradient, failure);
    });
  }
}

/** The next larger of sixteen steps between powers of two: at most a sixteenth is wasted. */
export function sizeClass(elements: number): { readonly elements: number; readonly index: number } {
  const exponent = Math.max(0, Math.floor(Math.log2(elements)) - 4);
  const steps = Math.ceil(elements / 2 ** exponent);
  return { elements: steps * 2 ** exponent, index: 16 * exponent + steps };
}
