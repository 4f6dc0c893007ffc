import type { CollectiveBuffer } from "./backend.js";
import { type DeviceBuffer, isDeviceBuffer, rootOf } from "./device-buffer.js";
import { bytesOfMemory, kindOf, memoryOf } from "./view-facts.js";

type Buffer = CollectiveBuffer | undefined | null;

// To ask a weak reference costs some 25 ns, and a repeated run of this much memory in turns takes a thousand times as long.
const mostBytes = 2 ** 24;

/** Remembers its last buffers, so that it needn't check them when they come again. */
export interface Remembering {
  /** From now on only as long as somebody else holds them. */
  letGo(): void;
}

/**
 * Whose last buffers are held, by a rank. It keeps memory alive thereby that the program may have dropped: so there are only
 * the newest, as many as together hold little.
 */
export class RecentBuffers {
  /** Bytes of each, in the order in which they came to be held. */
  private readonly bytes = new Map<Remembering, number>();
  private total = 0;

  /** One has got other buffers to remember. */
  note(newest: Remembering, send: Buffer, recv: Buffer): void {
    this.drop(newest);
    const bytes = memoryOfBoth(send, recv);
    this.bytes.set(newest, bytes);
    this.total += bytes;
    if (this.total <= mostBytes) return;
    for (const oldest of bytes > mostBytes ? [newest] : this.bytes.keys()) {
      this.drop(oldest);
      oldest.letGo();
      if (this.total <= mostBytes) return;
    }
  }

  /** One remembers nothing any more. */
  drop(one: Remembering): void {
    this.total -= this.bytes.get(one) ?? 0;
    this.bytes.delete(one);
  }

  /** Nothing is held any more. */
  clear(): void {
    for (const one of this.bytes.keys()) one.letGo();
    this.bytes.clear();
    this.total = 0;
  }
}

/** Of the whole memory, of which a view may be a small part. */
function memoryOfBoth(send: Buffer, recv: Buffer): number {
  const [first, second] = [memoryHeldBy(send), memoryHeldBy(recv)];
  return bytesOfHeld(first) + (second === first ? 0 : bytesOfHeld(second));
}

type Held = DeviceBuffer | ArrayBufferLike | undefined;

function memoryHeldBy(buffer: Buffer): Held {
  if (isDeviceBuffer(buffer)) return rootOf(buffer);
  return kindOf(buffer) === undefined ? undefined : memoryOf(buffer);
}

/** Not the memory's own `byteLength`, which may be a getter of the caller's. */
function bytesOfHeld(held: Held): number {
  if (held === undefined) return 0;
  return isDeviceBuffer(held) ? held.byteLength : bytesOfMemory(held);
}
