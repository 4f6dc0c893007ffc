import { types } from "node:util";
import { type Collective, type DataType, hasInput, hasOutput, inputSegmentsOf, outputSegmentsOf, typedArrayOf } from "@dfccl/primitives";
import type { CollectiveBuffer } from "./backend.js";
import { addressOf } from "./buffer-address.js";
import { type DeviceOwner, isDeviceBuffer, ownerOf } from "./device-buffer.js";
import { BufferError } from "./errors.js";
import type { MemoryWindow } from "./native-addon/native-world.js";
import { elementsOf, kindOf, memoryOf, nameOfGiven } from "./view-facts.js";

/** Segments of a rank's buffers, each of as many elements as a run has; 0 where it has none. */
export interface BufferSegments {
  readonly send: number;
  readonly recv: number;
}

export function bufferSegments(
  collective: Collective,
  ranks: number,
  member: number,
  root: number,
  customSegments: { input: number; output: number },
): BufferSegments {
  const segments =
    collective === "custom" ? customSegments : { input: inputSegmentsOf(collective, ranks), output: outputSegmentsOf(collective, ranks) };
  return {
    send: hasInput(collective, member, root) ? segments.input : 0,
    recv: hasOutput(collective, member, root) ? segments.output : 0,
  };
}

/**
 * Checks that a view can be a collective's buffer.
 * @returns its address; 0 where the rank has no such buffer.
 * @throws {BufferError}
 */
export function checkBuffer(
  name: string,
  which: "send" | "recv",
  view: CollectiveBuffer | undefined | null,
  dataType: DataType,
  elements: number,
): number {
  if (elements === 0) return 0;
  if (view === undefined || view === null) {
    throw new BufferError(name, which, "is missing", `Pass a ${typedArrayOf(dataType).name} of ${elements} elements.`, { elements });
  }
  const expected = typedArrayOf(dataType);
  if (isDeviceBuffer(view)) {
    throw new BufferError(name, which, "lies on a GPU", "This world executes on the CPU: pass a typed array, or open the world on GPUs.");
  }
  if (kindOf(view) !== expected.name) {
    const given = nameOfGiven(view);
    throw new BufferError(name, which, `is a ${given}`, `Pass a ${expected.name} of ${elements} elements, which holds ${dataType}.`, {
      given,
      expected: expected.name,
    });
  }
  const [length, memory] = [elementsOf(view), memoryOf(view)];
  if (length < elements) {
    const detached = length === 0 && isDetached(memory);
    throw new BufferError(
      name,
      which,
      detached ? "is detached: its memory was transferred elsewhere" : `has ${length} elements`,
      `It needs ${elements}.`,
      { length, elements, detached },
    );
  }
  if (isResizable(memory)) {
    throw new BufferError(name, which, "can be resized", "The engine needs memory that stays: pass a buffer made without maxByteLength.");
  }
  return addressOf(view);
}

/** @throws {BufferError} for memory that the other processes, which read and write it, can't reach. */
export function checkReach(name: string, which: "send" | "recv", address: number, bytes: number, { begin, end }: MemoryWindow): void {
  if (bytes === 0 || (address >= begin && address + bytes <= end)) return;
  throw new BufferError(
    name,
    which,
    "isn't memory that the other processes can reach",
    'Make it with rank.allocate(), or register the collective on every rank with buffers: "any".',
  );
}

/**
 * The same for a rank on a GPU.
 * @throws {BufferError}
 */
export function checkDeviceBuffer(
  name: string,
  which: "send" | "recv",
  buffer: CollectiveBuffer | undefined | null,
  dataType: DataType,
  elements: number,
  rank: DeviceOwner,
): number {
  if (elements === 0) return 0;
  const allocate = `Pass a buffer of rank ${rank.number}.allocate("${dataType}", ${elements}).`;
  const refuse = (problem: string): never => {
    throw new BufferError(name, which, problem, allocate, { dataType, elements });
  };
  if (buffer === undefined || buffer === null) return refuse("is missing");
  if (!isDeviceBuffer(buffer)) return refuse(`is a ${nameOfGiven(buffer)}, not device memory`);
  const owner = ownerOf(buffer);
  if (owner !== rank) return refuse(`is rank ${owner.number}'s, on device ${buffer.device}`);
  if (!buffer.isOpen) return refuse("has been freed");
  if (buffer.dataType !== dataType) return refuse(`holds ${buffer.dataType}`);
  if (buffer.length < elements) return refuse(`has ${buffer.length} elements`);
  return buffer.address;
}

const resizable = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "resizable")?.get as ((this: unknown) => boolean) | undefined;

/** Not `buffer.resizable`, which may be a getter of the caller's. Shared memory grows, but stays. */
function isResizable(buffer: ArrayBufferLike): boolean {
  return resizable !== undefined && types.isArrayBuffer(buffer) && resizable.call(buffer);
}

function isDetached(buffer: ArrayBufferLike): boolean {
  if ("detached" in buffer) return buffer.detached === true;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/**
 * Where one buffer shares memory with the other. In place means what NCCL means by it: the smaller buffer is the rank's
 * own segment of the larger one.
 * @throws {BufferError} for any other overlap, and for a placement that the program doesn't allow.
 */
export function checkPlacement(
  name: string,
  send: { address: number; bytes: number },
  recv: { address: number; bytes: number },
  member: number,
  program: { readonly inPlace: boolean; readonly outOfPlace: boolean },
): void {
  if (send.bytes === 0 || recv.bytes === 0) return;
  const overlaps = send.address < recv.address + recv.bytes && recv.address < send.address + send.bytes;
  if (!overlaps) {
    if (!program.outOfPlace) {
      throw new BufferError(name, "recv", "isn't the send buffer", "This program works in place only: pass the same buffer twice.");
    }
    return;
  }
  const segment = Math.min(send.bytes, recv.bytes);
  const own = send.bytes === recv.bytes ? 0 : member * segment;
  const isInPlace = send.bytes <= recv.bytes ? send.address === recv.address + own : recv.address === send.address + own;
  if (!isInPlace) {
    const how = send.bytes === recv.bytes ? "the same buffer twice" : "the smaller buffer is this rank's own segment of the larger one";
    throw new BufferError(name, "recv", "overlaps the send buffer", `Pass separate buffers, or work in place as NCCL defines it: ${how}.`);
  }
  if (!program.inPlace) {
    throw new BufferError(name, "recv", "is the send buffer", "This program can't work in place: pass another buffer.");
  }
}
