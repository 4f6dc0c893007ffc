import { markAsUntransferable } from "node:worker_threads";
import { nativeAddon } from "./native-addon/native-world.js";
import { memoryOf, offsetOf } from "./view-facts.js";

// Asking the addon costs some 50 ns; the memory of a buffer never moves, so it is asked once for each.
const addresses = new WeakMap<ArrayBufferLike, number>();

// At the end of the process Node detaches memory that an addon has made, and from 24 on aborts where the mark forbids it.
const marksAllocated = Number.parseInt(process.versions.node, 10) < 24;
const allocated = new WeakSet<ArrayBufferLike>();

/** The engine's own memory: whoever gets the buffer by a transfer gets the memory with it. */
export function noteAllocated(buffer: ArrayBufferLike): void {
  allocated.add(buffer);
}

/**
 * Address of a view's first byte. From now on the buffer can't be transferred to another thread: the engine would go on
 * writing to memory that its new owner may free.
 * @pre it is a typed array, whose buffer isn't detached or resizable.
 */
export function addressOf(view: ArrayBufferView): number {
  const buffer = memoryOf(view);
  const offset = offsetOf(view);
  let base = addresses.get(buffer);
  if (base === undefined) {
    base = nativeAddon().addressOf(view) - offset;
    if (marksAllocated || !allocated.has(buffer)) markAsUntransferable(buffer);
    addresses.set(buffer, base);
  }
  return base + offset;
}
