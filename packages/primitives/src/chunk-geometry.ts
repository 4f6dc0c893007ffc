import { checkInteger, checkNumber } from "./check-number.js";
import { checkObject } from "./check-object.js";

/**
 * Where chunks lie. A buffer is a row of segments of `count` elements, and each segment is cut into `chunksPerSegment`
 * chunks of ceil(count / chunksPerSegment) elements; the last ones may be shorter or empty. Chunks are numbered through
 * the whole buffer:
 *
 *     segment 0                segment 1
 *     | 0    | 1    | 2 |      | 3    | 4    | 5 |        chunksPerSegment = 3
 */
export interface ChunkGeometry {
  /** Elements of a segment. */
  readonly count: number;
  readonly chunksPerSegment: number;
}

/** Elements of a full chunk, which is also the size of every scratch chunk. */
export function chunkCapacity(geometry: ChunkGeometry): number {
  checkObject("geometry", geometry, "an object such as { count: 1024, chunksPerSegment: 4 }");
  const { count, chunksPerSegment } = geometry;
  checkNumber("count", count);
  checkNumber("chunksPerSegment", chunksPerSegment);
  return Math.ceil(count / chunksPerSegment);
}

/** First element of a chunk, counted from the start of its buffer; past the end of its segment where it is empty. */
export function chunkOffset(geometry: ChunkGeometry, chunk: number): number {
  const capacity = chunkCapacity(geometry);
  checkNumber("chunk", chunk);
  const segment = Math.floor(chunk / geometry.chunksPerSegment);
  return segment * geometry.count + (chunk % geometry.chunksPerSegment) * capacity;
}

/** Elements of a chunk: its capacity, less at the end of a segment, possibly 0. */
export function chunkLength(geometry: ChunkGeometry, chunk: number): number {
  const capacity = chunkCapacity(geometry);
  checkNumber("chunk", chunk);
  const start = (chunk % geometry.chunksPerSegment) * capacity;
  return Math.max(0, Math.min(capacity, geometry.count - start));
}

/** First element of a scratch chunk, counted from the start of the scratch buffer. */
export function scratchOffset(geometry: ChunkGeometry, chunk: number): number {
  checkNumber("chunk", chunk);
  return chunk * chunkCapacity(geometry);
}

/**
 * How often a program's step list runs: tiles of `tileElements` in a full chunk, and at least one, so that signals are
 * exchanged even where there is nothing to move.
 */
export function tileCount(geometry: ChunkGeometry, tileElements: number): number {
  checkInteger("tileElements", tileElements, 1);
  return Math.max(1, Math.ceil(chunkCapacity(geometry) / tileElements));
}
