import type { BufferKind } from "@dfccl/primitives";
import { SourceLine } from "./source-line.js";
import type { Span } from "./span.js";

export interface Directive {
  /** Connection between two ranks that carries it; operations on different channels don't wait in line for each other. */
  readonly channel?: number | undefined;
}

/** What a reference asks of the tracer; private to the language. */
export interface Operations {
  copy(from: ChunkReference, to: Span, directive: Directive, line: SourceLine): ChunkReference;
  reduce(into: ChunkReference, other: ChunkReference, directive: Directive, line: SourceLine): ChunkReference;
}

/**
 * The chunks that are in a place now. Operations return a reference to what they made; a reference to what has been
 * overwritten since is stale, and using it is an error. So a program can't race.
 * @see GC3, section 3.3
 */
export class ChunkReference<W extends BufferKind = BufferKind> implements Span {
  /** @internal Made by `chunk()` and by operations only. */
  constructor(
    private readonly operations: Operations,
    readonly rank: number,
    readonly buffer: BufferKind,
    readonly index: number,
    readonly count: number,
    /** @internal Number of the first operation that came after this reference was taken. */
    readonly takenAt: number,
  ) {}

  /**
   * Copies the chunks to a place on any rank.
   * @param buffer - default: the buffer they are in.
   * @param index - first chunk there; default: the index that they have here.
   * @returns a reference to the copy.
   */
  copy(rank: number, buffer?: W, index?: number, directive: Directive = {}): ChunkReference<W> {
    const to = { rank, buffer: buffer ?? this.buffer, index: index ?? this.index, count: this.count };
    return this.operations.copy(this, to, directive, new SourceLine(ChunkReference.prototype.copy));
  }

  /**
   * Reduces other chunks, of any rank, into these, point by point.
   * @param other - as many chunks as this.
   * @returns a reference to the result, which is where these were; this reference is stale.
   */
  reduce(other: ChunkReference<W>, directive: Directive = {}): ChunkReference<W> {
    return this.operations.reduce(this, other, directive, new SourceLine(ChunkReference.prototype.reduce));
  }
}
