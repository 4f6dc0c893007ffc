import { type ChunkGeometry, chunkCapacity, chunkLength, opShapeOf, type Program, type Step } from "@dfccl/primitives";
import type { Connection } from "./connection.js";

/** A step with all that has to be looked up for it. */
export interface SimulatedStep {
  readonly step: Step;
  readonly incoming: Connection | undefined;
  readonly outgoing: Connection | undefined;
  /** Rank of the cluster that the step sends to. */
  readonly to: number;
  /** Blocks of the cluster, and how far each must be. */
  readonly dependencies: readonly { readonly block: number; readonly step: number }[];
}

/** How a program is cut up; elements are bytes here. */
export interface Tiling {
  readonly program: Program;
  readonly geometry: ChunkGeometry;
  readonly tileSize: number;
  readonly tiles: number;
}

/** Where a block stands: in tile `tile` before step `step`, or within it while `finishesAt` is set. */
export interface SimulatedBlock {
  /** Of the cluster. */
  readonly rank: number;
  readonly tiling: Tiling;
  readonly steps: SimulatedStep[];
  tile: number;
  step: number;
  finishesAt: number | undefined;
  /** Blocks to look at again when this one has done a step. */
  readonly waiting: Set<number>;
}

/** Bytes that a step moves in one tile. */
export function bytesOfTile({ op, src, dst, count }: Step, tile: number, { geometry, tileSize }: Tiling): number {
  const place = opShapeOf(op).hasSource ? src : dst;
  if (place === undefined) return 0;
  let bytes = 0;
  for (let chunk = place.chunk; chunk < place.chunk + count; chunk += 1) {
    const length = place.buffer === "scratch" ? chunkCapacity(geometry) : chunkLength(geometry, chunk);
    bytes += Math.max(0, Math.min(tileSize, length - tile * tileSize));
  }
  return bytes;
}
