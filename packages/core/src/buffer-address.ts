import { markAsUntransferable } from "node:worker_threads";
import { nativeAddon } from "./native-addon/native-world.js";

// Asking the addon costs some 50 ns; the memory of a buffer never moves, so it is asked once for each.
const addresses = new WeakMap<ArrayBufferLike, number>();

/**
 * Address of a view's first byte. From now on the buffer can't be transferred to another thread: the engine would go on
 * writing to memory that its new owner may free.
 * @pre the buffer isn't detached or resizable.
 */
export function addressOf(view: ArrayBufferView): number {
  const { buffer } = view;
  let base = addresses.get(buffer);
  if (base === undefined) {
    base = nativeAddon().addressOf(view) - view.byteOffset;
    markAsUntransferable(buffer);
    addresses.set(buffer, base);
  }
  return base + view.byteOffset;
}
