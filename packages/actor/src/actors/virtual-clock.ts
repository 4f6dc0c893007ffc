import { checkFunction, InvalidArgumentError } from "@dfccl/primitives";
import type { Clock } from "../clock.js";

/** Time that passes only when {@link run} says so: the same calls in the same order, each time. */
export class VirtualClock implements Clock {
  private time = 0;
  private count = 0;
  // A binary heap by time, then by order of the calls.
  private readonly heap: { readonly at: number; readonly order: number; callback: (() => void) | undefined }[] = [];

  now(): number {
    return this.time;
  }

  /**
   * @param delayMs - a finite number; below 0: at once.
   * @throws {InvalidArgumentError}
   */
  after(delayMs: number, callback: () => void): () => void {
    if (!Number.isFinite(delayMs)) throw new InvalidArgumentError("delayMs", delayMs, "milliseconds, a finite number");
    checkFunction("callback", callback, "a function to call back");
    const entry: (typeof this.heap)[number] = { at: this.time + Math.max(0, delayMs), order: this.count, callback };
    this.count += 1;
    this.heap.push(entry);
    this.up(this.heap.length - 1);
    return () => {
      entry.callback = undefined;
    };
  }

  /** Calls everything back, in order, what is added meanwhile too. */
  run(): void {
    for (let entry = this.pop(); entry !== undefined; entry = this.pop()) {
      this.time = entry.at;
      entry.callback?.();
    }
  }

  private isBefore(a: number, b: number): boolean {
    const [x, y] = [this.heap[a], this.heap[b]];
    return x !== undefined && y !== undefined && (x.at < y.at || (x.at === y.at && x.order < y.order));
  }

  private swap(a: number, b: number): void {
    const [x, y] = [this.heap[a], this.heap[b]];
    if (x === undefined || y === undefined) return;
    this.heap[a] = y;
    this.heap[b] = x;
  }

  private up(start: number): void {
    for (let at = start; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.isBefore(at, parent)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private pop(): (typeof this.heap)[number] | undefined {
    this.swap(0, this.heap.length - 1);
    const entry = this.heap.pop();
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const smallest = [left, left + 1].reduce((least, child) => (this.isBefore(child, least) ? child : least), at);
      if (smallest === at) return entry;
      this.swap(at, smallest);
      at = smallest;
    }
  }
}
