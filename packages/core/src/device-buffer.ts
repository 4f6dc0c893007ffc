import { type InspectOptions, inspect } from "node:util";
import { byteSizeOf, type DataType, InvalidArgumentError, type TypedArrayOf, typedArrayOf } from "@dfccl/primitives";
import { ClosedError, EngineError } from "./errors.js";
import { callNative, typedError } from "./native-addon/native-error.js";
import { type NativeWorld, unmappedWindow } from "./native-addon/native-world.js";
import { summary } from "./summary.js";
import { bytesOf, elementsOf, kindOf, memoryOf, nameOfGiven, offsetOf } from "./view-facts.js";

/** A typed array of the buffer's data type, over any memory of the host. */
export type HostElements = ArrayBufferView & { readonly length: number };

/** What a buffer needs of its rank. */
export interface DeviceOwner {
  readonly number: number;
  readonly engine: { readonly native: NativeWorld; readonly isOpen: boolean; readonly isJoined: boolean };
  /** Whether a run in flight, or in quarantine, uses memory of an allocation. */
  uses(root: DeviceBuffer): boolean;
}

interface Allocation {
  readonly owner: DeviceOwner;
  readonly address: number;
  readonly bytes: number;
}

/** What this file's own calls of the constructor bring, and nobody else's. */
const made = Symbol("made here");

// Nobody holds the buffer any more, so no run does. Memory of a closed world is free already.
const forgotten = new FinalizationRegistry<Allocation>(({ owner, address, bytes }) => {
  if (owner.engine.isOpen) owner.engine.native.freeOnDevice(owner.number, address, bytes);
});

/** @internal Never throws, as `instanceof` may for a proxy. */
export let isDeviceBuffer: (value: unknown) => value is DeviceBuffer;
/** @internal */
export let ownerOf: (buffer: DeviceBuffer) => DeviceOwner;
/** @internal What was allocated: this buffer, or the one that it is a part of. */
export let rootOf: (buffer: DeviceBuffer) => DeviceBuffer;
/** @internal How a run names it to other processes; 0 where there are none. @param isStaged - as NativeWorld.windowOf() */
export let windowOf: (buffer: DeviceBuffer, isStaged: boolean) => number;
/** @internal */
export let allocateOnDevice: <T extends DataType>(owner: DeviceOwner, dataType: T, length: number, bytes: number) => DeviceBuffer<T>;

/**
 * Elements in the memory of a rank's GPU. `rank.allocate` makes them, zeroed; they are freed by free(), or when nobody holds
 * them.
 */
export class DeviceBuffer<T extends DataType = DataType> implements Disposable {
  readonly byteLength: number;
  readonly #owner: DeviceOwner;
  readonly #root: DeviceBuffer<T>;
  #isFreed = false;
  #mappedWindow: number | undefined;

  static {
    isDeviceBuffer = (value): value is DeviceBuffer => typeof value === "object" && value !== null && #owner in value;
    ownerOf = (buffer) => buffer.#owner;
    rootOf = (buffer) => buffer.#root;
    windowOf = (buffer, isStaged) => buffer.#windowNumber(isStaged);
    allocateOnDevice = (owner, dataType, length, bytes) => {
      const address = callNative(() => owner.engine.native.allocateOnDevice(owner.number, bytes));
      const buffer = new DeviceBuffer(made, owner, dataType, length, address);
      forgotten.register(buffer, { owner, address, bytes }, buffer);
      return buffer;
    };
  }

  /** @internal */
  constructor(
    origin: typeof made,
    owner: DeviceOwner,
    readonly dataType: T,
    readonly length: number,
    /** Address on the device, for other libraries. */
    readonly address: number,
    root?: DeviceBuffer<T>,
  ) {
    if (origin !== made) throw new InvalidArgumentError("buffer", nameOfGiven(origin), "buffers of rank.allocate() instead");
    this.byteLength = length * byteSizeOf(dataType);
    this.#owner = owner;
    this.#root = root ?? this;
    // Where copies go is computed from them.
    Object.freeze(this);
  }

  /** What console.log() shows. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { dataType, length, address } = this;
    return summary("DeviceBuffer", { dataType, length, address: `0x${address.toString(16)}`, rank: this.#owner.number }, options);
  }

  /** The device's number, as CUDA counts. @throws {ClosedError} */
  get device(): number {
    const { engine, number } = this.#owner;
    return callNative(() => engine.native.deviceOf(number));
  }

  #windowNumber(isStaged: boolean): number {
    const { engine, number } = this.#owner;
    if (!engine.isJoined || this.length === 0) return 0;
    if (this.#mappedWindow !== undefined) return this.#mappedWindow;
    const window = callNative(() => engine.native.windowOf(number, this.address, isStaged));
    if (isStaged && window !== unmappedWindow) this.#mappedWindow = window;
    return window;
  }

  /** Elements `begin` to `end` of the same memory, as a typed array's subarray() gives them. */
  subarray(begin = 0, end = this.length): DeviceBuffer<T> {
    const first = indexWithin(begin, this.length);
    const length = Math.max(0, indexWithin(end, this.length) - first);
    return new DeviceBuffer(made, this.#owner, this.dataType, length, this.address + first * byteSizeOf(this.dataType), this.#root);
  }

  /**
   * Copies elements from the host, on a stream of its own. The source must stay as it is until the promise resolves.
   * @param at - element of this buffer where they go.
   * @throws {InvalidArgumentError} for another type, or more elements than there is room for; {@link ClosedError}.
   */
  async copyFrom(source: HostElements, at = 0): Promise<void> {
    this.check(source, at);
    const { engine, number } = this.#owner;
    await typed(engine.native.copyIn(number, this.address + at * byteSizeOf(this.dataType), bytesOfHost(source)));
  }

  /** Copies elements to the host: as many as the target holds, from element `at` on. */
  async copyTo(target: HostElements, at = 0): Promise<void> {
    this.check(target, at);
    const { engine, number } = this.#owner;
    await typed(engine.native.copyOut(number, bytesOfHost(target), this.address + at * byteSizeOf(this.dataType)));
  }

  /** All elements, in a new array. */
  async read(): Promise<TypedArrayOf<T>> {
    const ArrayOfType = typedArrayOf(this.dataType);
    const result = new ArrayOfType(this.length) as TypedArrayOf<T>;
    await this.copyTo(result);
    return result;
  }

  get isOpen(): boolean {
    return !this.#root.#isFreed && this.#owner.engine.isOpen;
  }

  /**
   * Gives the memory back, with all its parts; the device does so after the daemon's stay, some milliseconds. Twice is fine.
   * @throws {EngineError} IN_USE while a run of it is in flight or in quarantine.
   */
  free(): void {
    const root = this.#root;
    const owner = this.#owner;
    if (!this.isOpen) return;
    if (owner.uses(root)) {
      throw new EngineError(
        "IN_USE",
        `A ${this.dataType} buffer of rank ${owner.number} is in use by a run.`,
        "Await the run, or the quarantine of the collective after an abort.",
        { rank: owner.number, elements: root.length },
      );
    }
    root.#isFreed = true;
    forgotten.unregister(root);
    callNative(() => owner.engine.native.freeOnDevice(owner.number, root.address, root.byteLength));
  }

  [Symbol.dispose](): void {
    this.free();
  }

  private check(view: HostElements, at: number): void {
    if (!this.isOpen) throw new ClosedError("The device buffer");
    const expected = typedArrayOf(this.dataType);
    if (kindOf(view) !== expected.name) throw new InvalidArgumentError("view", nameOfGiven(view), `a ${expected.name}`);
    const elements = elementsOf(view);
    const room = this.length - elements;
    if (!Number.isInteger(at) || at < 0 || at > room) {
      throw new InvalidArgumentError("at", at, `elements from 0 to ${room}: the buffer has ${this.length}, the view ${elements}`);
    }
  }
}

/** An index as Array.prototype.slice() takes them: whole, and from the end where it is negative. */
function indexWithin(index: number, length: number): number {
  const whole = Math.trunc(index) || 0;
  return Math.max(0, Math.min(length, whole < 0 ? whole + length : whole));
}

function bytesOfHost(view: HostElements): Uint8Array {
  return new Uint8Array(memoryOf(view), offsetOf(view), bytesOf(view));
}

async function typed(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw typedError(error);
  }
}
