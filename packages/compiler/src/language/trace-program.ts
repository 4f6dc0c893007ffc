import { type BufferKind, bufferKinds, describeTerms, takesReduceOp, type Value, ValueFactory } from "@dfccl/primitives";
import { checkBody, runBody } from "./check-body.js";
import { ChunkReference, type Directive, type Operations } from "./chunk-reference.js";
import type { Language, ProgramDefinition } from "./define-program.js";
import {
  BadDirectiveError,
  ChunkOutOfRangeError,
  InputIsReadOnlyError,
  MisplacedDataError,
  MixedSpanError,
  NoSuchRankError,
  SpanMismatchError,
  StaleReferenceError,
  UninitialisedChunkError,
  WrongResultError,
} from "./errors.js";
import { type Place, Places, type Signature } from "./signature.js";
import { SourceLine } from "./source-line.js";
import { isSameSpan, overlaps, type Span } from "./span.js";
import type { Trace, TracedOperation } from "./trace.js";

const mostParallel = 256;
const mostChannels = 256;

interface Cell {
  readonly value: Value;
  /** Index of the operation that wrote it. */
  readonly writer: number;
}

/**
 * Runs the body once and records what it does, following every chunk's value.
 * @throws {LanguageError} at the line of the program that is wrong, and at the end where an output isn't what the
 * collective promises.
 * @see GC3, section 4.1
 */
export function traceProgram<W extends BufferKind>(definition: ProgramDefinition<W>): Trace {
  const tracer = new Tracer<W>(definition.collective);
  runBody("body", () => definition.body(tracer));
  return tracer.finish();
}

function channelOf(directive: Directive, line: SourceLine): number | undefined {
  try {
    if (typeof directive === "object") return directive.channel;
  } catch {
    // Null, or a getter of the caller's that throws: refused as all else is.
  }
  throw new BadDirectiveError(line, "the last argument", directive, "an object such as { channel: 1 }");
}

/** Also of what throws when it is looked at. */
function isReference(value: unknown): value is ChunkReference {
  try {
    return value instanceof ChunkReference;
  } catch {
    return false;
  }
}

class Tracer<W extends BufferKind> implements Language<W>, Operations {
  readonly ranks: number;
  private readonly places: Places;
  private readonly values: ValueFactory;
  private readonly operations: TracedOperation[] = [];
  private readonly cells: readonly Record<BufferKind, (Cell | undefined)[]>[];
  private readonly scratchChunks: number[];
  private parallel = 1;

  constructor(private readonly signature: Signature) {
    const { ranks, chunksPerSegment } = signature;
    this.ranks = ranks;
    this.places = new Places(signature);
    this.values = new ValueFactory(ranks, Math.max(1, signature.inputSegments * chunksPerSegment), chunksPerSegment);
    this.cells = Array.from({ length: ranks }, () => ({ input: [], output: [], scratch: [] }));
    this.scratchChunks = Array.from({ length: ranks }, () => 0);
  }

  readonly chunk = (rank: number, buffer: BufferKind, index = 0, count = 1): ChunkReference<W> => {
    const line = new SourceLine(this.chunk);
    const span = this.located({ rank, buffer, index, count }, line);
    this.read(span, line);
    return this.reference({ rank, buffer, index, count });
  };

  readonly parallelize = (factor: number, body: () => void): void => {
    const outer = this.parallel;
    if (!Number.isInteger(factor) || factor < 1 || outer * factor > mostParallel) {
      const expected = `a whole number of at least 1, and at most ${mostParallel} with the blocks around it`;
      throw new BadDirectiveError(new SourceLine(this.parallelize), "the factor of parallelize", factor, expected);
    }
    checkBody("the body of parallelize", body);
    this.parallel = outer * factor;
    try {
      runBody("the body of parallelize", body);
    } finally {
      this.parallel = outer;
    }
  };

  copy(from: ChunkReference, to: Span, directive: Directive, line: SourceLine): ChunkReference<W> {
    const channel = channelOf(directive, line);
    const src = this.current(from, line);
    const dst = this.located(to, line);
    // In place, the program's own copy to where the data is already.
    if (isSameSpan(src, dst)) return this.reference(to);
    if (overlaps(src, dst)) throw new SpanMismatchError(line, src, dst, "overlap");
    this.write("copy", src, dst, this.read(src, line), channel, line);
    return this.reference(to);
  }

  reduce(into: ChunkReference, other: ChunkReference, directive: Directive, line: SourceLine): ChunkReference<W> {
    const channel = channelOf(directive, line);
    const dst = this.current(into, line);
    const src = this.current(other, line);
    if (src.count !== dst.count) throw new SpanMismatchError(line, dst, src, "differ in their counts");
    if (overlaps(src, dst)) throw new SpanMismatchError(line, dst, src, "overlap");
    const added = this.read(src, line);
    const result = this.read(dst, line).map((value, i) => this.values.combine([value, added[i] ?? value]));
    this.write("reduce", src, dst, result, channel, line);
    return this.reference(into);
  }

  /** Checks what the collective promises, and hands out the record. */
  finish(): Trace {
    const { signature, places } = this;
    for (let rank = 0; rank < this.ranks; rank += 1) {
      for (let index = 0; index < places.size(rank, "output"); index += 1) {
        const expected = signature.postcondition(rank, index);
        if (expected === undefined) continue;
        const place = places.placeOf(rank, "output", index);
        const value = this.valueAt(rank, place);
        if (value !== undefined && this.values.isReductionOf(value, expected)) continue;
        const writer = this.operations[this.cells[rank]?.[place.buffer][place.index]?.writer ?? -1];
        const holds = value === undefined ? "nothing" : this.values.describe(value);
        throw new WrongResultError(writer?.line ?? "the end of the program", { rank, index, holds, expected: describeTerms(expected) });
      }
    }
    return { signature, operations: this.operations, scratchChunks: this.scratchChunks };
  }

  private reference({ rank, buffer, index, count }: Span): ChunkReference<W> {
    return new ChunkReference<W>(this, rank, buffer, index, count, this.operations.length);
  }

  /** The one name of a span, once it is known to exist. */
  private located(span: Span, line: SourceLine): Span {
    const { rank, buffer, index, count } = span;
    if (!Number.isInteger(rank) || rank < 0 || rank >= this.ranks) throw new NoSuchRankError(line, rank, this.ranks);
    if (!bufferKinds.includes(buffer)) throw new BadDirectiveError(line, "the buffer", buffer, `one of ${bufferKinds.join(", ")}`);
    if (!Number.isInteger(count) || count < 1) throw new BadDirectiveError(line, "the count", count, "a whole number of at least 1");
    const available = this.places.size(rank, buffer);
    if (!Number.isInteger(index) || index < 0 || index + count > available) throw new ChunkOutOfRangeError(line, span, available);
    return { rank, ...this.places.placeOf(rank, buffer, index), count };
  }

  private current(reference: ChunkReference, line: SourceLine): Span {
    if (!isReference(reference))
      throw new BadDirectiveError(line, "what is to be reduced", reference, "what chunk() or an operation returned");
    const span = this.located(reference, line);
    for (let index = span.index; index < span.index + span.count; index += 1) {
      const writer = this.cells[span.rank]?.[span.buffer][index]?.writer ?? -1;
      const operation = this.operations[writer];
      if (operation !== undefined && writer >= reference.takenAt) throw new StaleReferenceError(line, reference, operation.line);
    }
    return span;
  }

  private valueAt(rank: number, place: Place): Value | undefined {
    const cell = this.cells[rank]?.[place.buffer][place.index];
    if (cell !== undefined) return cell.value;
    const input = this.places.inputAt(rank, place);
    return input === undefined ? undefined : this.values.input(rank, input);
  }

  private read(span: Span, line: SourceLine): Value[] {
    const { rank, buffer, count } = span;
    let written = 0;
    const values = Array.from({ length: count }, (_, offset) => {
      const place = { buffer, index: span.index + offset };
      const value = this.valueAt(rank, place);
      if (value === undefined) throw new UninitialisedChunkError(line, { rank, ...place, count: 1 });
      if (this.cells[rank]?.[buffer][place.index] !== undefined) written += 1;
      return value;
    });
    // An input that is no output can't be written, so nothing can bring the two together.
    if (buffer === "input" && written > 0 && written < count) throw new MixedSpanError(line, span);
    return values;
  }

  private write(
    kind: TracedOperation["kind"],
    src: Span,
    dst: Span,
    values: readonly Value[],
    channel: number | undefined,
    line: SourceLine,
  ): void {
    const { rank, buffer, index } = dst;
    const outputs = values.map((_, offset) => this.places.outputAt(rank, { buffer, index: index + offset }));
    if (buffer !== "scratch" && outputs.includes(undefined)) {
      throw new InputIsReadOnlyError(line, dst, this.signature.inPlace !== false);
    }
    if (channel !== undefined && (!Number.isInteger(channel) || channel < 0 || channel >= mostChannels)) {
      throw new BadDirectiveError(line, "the channel", channel, `a whole number from 0 to ${mostChannels - 1}`);
    }
    if (channel !== undefined && src.rank === dst.rank) {
      throw new BadDirectiveError(line, "the channel of an operation within one rank", channel, "none: nothing is sent");
    }
    values.forEach((value, offset) => {
      const output = outputs[offset];
      const mustFit = output !== undefined && this.signature.collective !== "custom";
      if (mustFit && value.position !== output % this.signature.chunksPerSegment) {
        throw new MisplacedDataError(line, { rank, buffer, index: index + offset, count: 1 }, this.values.describe(value));
      }
      const cells = this.cells[rank]?.[buffer];
      if (cells !== undefined) cells[index + offset] = { value, writer: this.operations.length };
    });
    if (kind === "reduce" && !takesReduceOp(this.signature.collective) && this.signature.collective !== "custom") {
      throw new BadDirectiveError(line, "the collective", this.signature.collective, "a collective that reduces");
    }
    if (buffer === "scratch") this.scratchChunks[rank] = Math.max(this.scratchChunks[rank] ?? 0, index + dst.count);
    this.operations.push({ kind, src, dst, channel, parallel: this.parallel, line });
  }
}
