import { byteSizeOf, type DataType, typedArrayOf } from "@dfccl/primitives";
import type { RunRequest } from "../api.js";
import type { CollectiveBuffer } from "../backend.js";
import { noteAllocated } from "../buffer-address.js";
import { EngineError } from "../errors.js";
import { callNative } from "../native-addon/native-error.js";
import type { MemoryWindow, NativeWorld } from "../native-addon/native-world.js";
import { checkBuffer } from "../run-check.js";
import { elementsOf, sectionOf } from "../view-facts.js";
import type { MatchedCollective } from "./matched-collective.js";

type Buffer = CollectiveBuffer | null | undefined;
type Elements = Float32Array;

const leastBytes = 4096;

/** A run whose buffers lie where all ranks reach them. */
interface Staged {
  readonly request: RunRequest;
  readonly pieces: readonly ArrayBuffer[];
  /** Copies the result to where the caller wants it. */
  readonly copyOut: () => void;
}

/** Runs that some copies were made for. */
export interface StagedRuns {
  readonly requests: readonly RunRequest[];
  /** They have completed: the results go where they are wanted, and the copies may be used again. */
  finish(): void;
  /** They weren't submitted. */
  giveBack(): void;
}

/** Memory that all ranks reach, for buffers that lie where they don't. Pieces are kept, since the next run wants the same. */
export class Staging {
  private readonly unused = new Map<number, ArrayBuffer[]>();

  constructor(
    private readonly native: Pick<NativeWorld, "allocate" | "free">,
    private readonly window: MemoryWindow,
  ) {}

  /**
   * Copies what other ranks can't reach.
   * @returns undefined where they reach all of it.
   * @throws {BufferError}; {@link EngineError} OUT_OF_MEMORY
   */
  bringIntoReach(entries: readonly MatchedCollective[], requests: readonly RunRequest[]): StagedRuns | undefined {
    const staged: (Staged | undefined)[] = [];
    const giveBack = (): void => {
      for (const one of staged) for (const piece of one?.pieces ?? []) this.put(piece);
    };
    try {
      for (const [i, entry] of entries.entries()) staged.push(this.bring(entry, requests[i]));
    } catch (error) {
      giveBack();
      throw error;
    }
    if (staged.every((one) => one === undefined)) return undefined;
    return {
      requests: requests.map((request, i) => staged[i]?.request ?? request),
      finish: () => {
        for (const one of staged) one?.copyOut();
        giveBack();
      },
      giveBack,
    };
  }

  private bring({ registration, collective }: MatchedCollective, request: RunRequest | undefined): Staged | undefined {
    if (!registration.needsReach) return undefined;
    const { name, lengths, facts } = registration;
    const { dataType } = facts;
    const bytesOf = (elements: number): number => elements * byteSizeOf(dataType);
    const check = (which: "send" | "recv", view: Buffer, elements: number) => {
      const address = checkBuffer(name, which, view, dataType, elements);
      return { view: view as unknown as Elements, elements, address, end: address + bytesOf(elements) };
    };
    const send = check("send", request?.[1], lengths.send);
    const recv = check("recv", request?.[2], lengths.recv);
    const isReached = ({ elements, address, end }: typeof send): boolean =>
      elements === 0 || (address >= this.window.begin && end <= this.window.end);
    if (isReached(send) && isReached(recv)) return undefined;

    // In place, both stay where they are to each other.
    const overlaps = send.elements !== 0 && recv.elements !== 0 && send.address < recv.end && recv.address < send.end;
    const begin = overlaps ? Math.min(send.address, recv.address) : 0;
    const whole = overlaps ? this.take(Math.max(send.end, recv.end) - begin) : undefined;
    const pieces: ArrayBuffer[] = whole === undefined ? [] : [whole];
    const copyOf = (side: typeof send): Elements => {
      if (whole === undefined && isReached(side)) return side.view;
      const piece = whole ?? this.take(bytesOf(side.elements));
      if (whole === undefined) pieces.push(piece);
      return viewOf(dataType, piece, whole === undefined ? 0 : side.address - begin, side.elements);
    };
    const [from, to] = [send.elements === 0 ? undefined : copyOf(send), recv.elements === 0 ? undefined : copyOf(recv)];
    if (from !== undefined && from !== send.view) copy(dataType, send.view, from, send.elements);
    return {
      request: [collective, from, to],
      pieces,
      copyOut: () => {
        // One that was detached meanwhile has no place for it.
        if (to !== undefined && to !== recv.view && elementsOf(recv.view) >= recv.elements) copy(dataType, to, recv.view, recv.elements);
      },
    };
  }

  private take(bytes: number): ArrayBuffer {
    const size = Math.max(leastBytes, 2 ** Math.ceil(Math.log2(bytes)));
    const piece = this.unused.get(size)?.pop();
    if (piece !== undefined) return piece;
    try {
      return this.allocate(size);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === "OUT_OF_MEMORY") || this.unused.size === 0) throw error;
    }
    this.freeUnused();
    return this.allocate(size);
  }

  private allocate(size: number): ArrayBuffer {
    const made = callNative(() => this.native.allocate(size));
    noteAllocated(made);
    return made;
  }

  /** Left to be collected, it would take its room until then. */
  private freeUnused(): void {
    const pieces = [...this.unused.values()].flat();
    this.unused.clear();
    for (const piece of pieces) callNative(() => this.native.free(piece));
  }

  private put(piece: ArrayBuffer): void {
    const unused = this.unused.get(piece.byteLength);
    if (unused === undefined) this.unused.set(piece.byteLength, [piece]);
    else unused.push(piece);
  }
}

function copy(dataType: DataType, from: Elements, to: Elements, elements: number): void {
  const [source, target] = [from, to].map((view) => sectionOf(dataType, view, 0, elements) as unknown as Elements);
  if (source !== undefined) target?.set(source);
}

function viewOf(dataType: DataType, piece: ArrayBuffer, offset: number, elements: number): Elements {
  return new (typedArrayOf(dataType))(piece, offset, elements) as unknown as Elements;
}
