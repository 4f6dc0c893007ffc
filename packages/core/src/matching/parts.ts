import type { DataType, ReduceOp } from "@dfccl/primitives";
import type { CollectiveBuffer } from "../backend.js";
import { isDeviceBuffer } from "../device-buffer.js";
import { BufferError } from "../errors.js";
import { bytesOf, kindOf, memoryOf, offsetOf } from "../view-facts.js";
import { lengthOf, partOf, type Span } from "./arguments.js";
import type { Tag } from "./group-api.js";
import type { MatchedRun } from "./matched-run.js";
import type { Purpose } from "./signature.js";

type Buffer = CollectiveBuffer | null | undefined;

/** A segment of a buffer; undefined where it is empty. */
export interface Part {
  readonly count: number;
  readonly buffer: CollectiveBuffer | undefined;
}

/** The runs that an uneven collective of one rank consists of. Empty segments need none. */
export class Parts {
  readonly runs: MatchedRun[] = [];

  constructor(
    private readonly purpose: Purpose,
    private readonly dataType: DataType,
    private readonly tag: Tag,
    /** Of counts that all members know; else 0. */
    private readonly countsHash: number,
  ) {}

  /** @throws {BufferError} where the buffer doesn't hold it. */
  of(which: "send" | "recv", buffer: Buffer, { begin, count }: Span = { begin: 0, count: 0 }): Part {
    return { count, buffer: count === 0 ? undefined : partOf(this.purpose, which, buffer, this.dataType, begin, count) };
  }

  /**
   * The parts of a collective run in any order, so none may write what another reads.
   * @param own - in place: where in `other` the small one may lie.
   * @throws {BufferError}
   */
  requireApart(small: Buffer, other: Buffer, own?: Span): void {
    // What is no buffer is refused where its parts are taken.
    if (!isBuffer(small) || !isBuffer(other)) return;
    const [a, b] = [placeOf(small), placeOf(other)];
    if (a.memory !== b.memory || a.begin >= b.end || b.begin >= a.end) return;
    const elementBytes = (a.end - a.begin) / lengthOf(this.purpose, "send", small);
    if (own !== undefined && a.begin === b.begin + own.begin * elementBytes) return;
    throw new BufferError(
      this.purpose,
      "recv",
      "overlaps the send buffer",
      own === undefined
        ? "Pass separate buffers."
        : "Pass separate buffers, or work in place: in this rank's own segment of the larger one.",
    );
  }

  addCollective(collective: "broadcast" | "reduce", op: ReduceOp, root: number, send: Part | undefined, recv: Part | undefined): void {
    this.add(collective, op, root, 0, send, recv);
  }

  addMessage(from: number, to: number, send: Part | undefined, recv: Part | undefined): void {
    this.add("send-recv", "sum", from, to, send, recv);
  }

  private add(
    collective: "broadcast" | "reduce" | "send-recv",
    op: ReduceOp,
    root: number,
    receiver: number,
    send: Part | undefined,
    recv: Part | undefined,
  ): void {
    const count = (send ?? recv)?.count ?? 0;
    if (count === 0) return;
    const { purpose, dataType, tag, countsHash } = this;
    this.runs.push({
      signature: { purpose, collective, dataType, op, root, receiver, count, tag, countsHash },
      send: send?.buffer,
      recv: recv?.buffer,
    });
  }
}

function isBuffer(buffer: Buffer): buffer is CollectiveBuffer {
  return isDeviceBuffer(buffer) || kindOf(buffer) !== undefined;
}

/** Where a buffer lies. */
function placeOf(buffer: CollectiveBuffer): { readonly memory: unknown; readonly begin: number; readonly end: number } {
  if (isDeviceBuffer(buffer)) return { memory: "device", begin: buffer.address, end: buffer.address + buffer.byteLength };
  const begin = offsetOf(buffer);
  return { memory: memoryOf(buffer), begin, end: begin + bytesOf(buffer) };
}
