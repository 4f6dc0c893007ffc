import { checkInteger, leastCommonMultiple, type Postcondition, programLimits } from "@dfccl/primitives";
import { BadDirectiveError } from "../language/errors.js";
import type { Signature } from "../language/signature.js";
import type { SourceLine } from "../language/source-line.js";
import type { Span } from "../language/span.js";
import type { Trace } from "../language/trace.js";

export interface ReplicateOptions {
  readonly instances: number;
  readonly replication: "interleaved" | "blocked";
}

/** An operation on its share of the data. Spans count in the finer chunks of the replicated signature. */
export interface ChunkOperation {
  readonly kind: "copy" | "reduce";
  readonly src: Span;
  readonly dst: Span;
  readonly channel: number | undefined;
  /** Which share; operations of different parts never use one connection. */
  readonly part: number;
  readonly line: SourceLine;
}

export interface ReplicatedTrace {
  /** As the trace's, with finer chunks. */
  readonly signature: Signature;
  readonly operations: readonly ChunkOperation[];
  readonly scratchChunks: readonly number[];
  /** Into how many finer chunks a chunk of the language was cut. */
  readonly finerChunks: number;
}

/**
 * Cuts operations into the shares that instances and `parallelize` ask for, and chunks into pieces so fine that every share
 * is whole ones. Dependencies are found later, between the shares themselves, so mixing factors is safe.
 * @throws {BadDirectiveError} where a blocked instance would need a span that isn't contiguous.
 */
export function replicate(trace: Trace, { instances, replication }: ReplicateOptions): ReplicatedTrace {
  const finerChunks = trace.operations.reduce((all, { parallel }) => leastCommonMultiple(all, instances * parallel), instances);
  const { chunksPerSegment } = trace.signature;
  const scratchSegment = Math.max(1, ...trace.scratchChunks);
  const cut = replication === "blocked" ? blockedCut(finerChunks, instances) : interleavedCut(finerChunks);
  const sizes = { input: chunksPerSegment, output: chunksPerSegment, scratch: scratchSegment };

  const operations: ChunkOperation[] = [];
  for (const { kind, src, dst, channel, parallel, line } of trace.operations) {
    const parts = instances * parallel;
    for (let part = 0; part < parts; part += 1) {
      const share = (span: Span): Span => {
        const segment = sizes[span.buffer];
        if (
          replication === "blocked" &&
          instances > 1 &&
          Math.floor(span.index / segment) !== Math.floor((span.index + span.count - 1) / segment)
        ) {
          throw new BadDirectiveError(
            String(line),
            "replication",
            "blocked",
            '"interleaved", because this span reaches over several segments',
          );
        }
        return { ...span, ...cut.share(span, segment, part, parts) };
      };
      operations.push({ kind, src: share(src), dst: share(dst), channel, part, line });
    }
  }
  const scratchChunks = trace.scratchChunks.map((chunks) =>
    chunks === 0 ? 0 : scratchSize(chunks, scratchSegment, cut, finerChunks, replication),
  );
  const most = Math.max(chunksPerSegment * Math.max(trace.signature.inputSegments, trace.signature.outputSegments), ...trace.scratchChunks);
  if (most * finerChunks > programLimits.bufferChunks) {
    throw new BadDirectiveError("the program", "the number of shares of a chunk", finerChunks, "fewer instances or smaller factors");
  }
  return {
    signature: {
      ...trace.signature,
      chunksPerSegment: chunksPerSegment * finerChunks,
      postcondition: finerPostcondition(trace.signature.postcondition, cut, chunksPerSegment),
    },
    operations,
    scratchChunks,
    finerChunks,
  };
}

/** How chunks are numbered once each is cut into pieces. */
interface Cut {
  /** Part `part` of `parts` of a span. */
  share(span: Span, segment: number, part: number, parts: number): { readonly index: number; readonly count: number };
  /** Chunk and piece of a finer chunk. */
  chunkOf(finer: number, segment: number): { readonly chunk: number; readonly piece: number };
  finerOf(chunk: number, piece: number, segment: number): number;
}

/** Pieces of a chunk side by side, where the chunk was. */
function interleavedCut(pieces: number): Cut {
  return {
    share: ({ index, count }, _, part, parts) => {
      const size = (count * pieces) / parts;
      return { index: index * pieces + part * size, count: size };
    },
    chunkOf: (finer) => ({ chunk: Math.floor(finer / pieces), piece: finer % pieces }),
    finerOf: (chunk, piece) => chunk * pieces + piece,
  };
}

/** Within a segment, first instance 0's pieces of all chunks, then instance 1's. */
function blockedCut(pieces: number, instances: number): Cut {
  const each = pieces / instances;
  const finerOf = (chunk: number, piece: number, segment: number): number => {
    const [before, within] = [Math.floor(chunk / segment), chunk % segment];
    return (before * instances + Math.floor(piece / each)) * segment * each + within * each + (piece % each);
  };
  return {
    share: ({ index, count }, segment, part, parts) => {
      const inner = parts / instances;
      const size = (count * each) / inner;
      return { index: finerOf(index, Math.floor(part / inner) * each, segment) + (part % inner) * size, count: size };
    },
    chunkOf: (finer, segment) => {
      const [block, within] = [Math.floor(finer / (segment * each)), finer % (segment * each)];
      return {
        chunk: Math.floor(block / instances) * segment + Math.floor(within / each),
        piece: (block % instances) * each + (within % each),
      };
    },
    finerOf,
  };
}

/** The postcondition about chunks, said about their pieces. */
function finerPostcondition(postcondition: Postcondition, cut: Cut, segment: number): Postcondition {
  return (rank, output) => {
    checkInteger("outputChunk", output, 0);
    const { chunk, piece } = cut.chunkOf(output, segment);
    return postcondition(rank, chunk)?.map((term) => ({ rank: term.rank, chunk: cut.finerOf(term.chunk, piece, segment) }));
  };
}

function scratchSize(chunks: number, segment: number, cut: Cut, pieces: number, replication: string): number {
  return replication === "blocked" ? cut.finerOf(chunks - 1, pieces - 1, segment) + 1 : chunks * pieces;
}
