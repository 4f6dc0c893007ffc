import type { Step } from "../program.js";

/**
 * What a builder sees: one rank and one lane. A program with k channels is k independent lanes side by side, each with
 * its own share of every segment, its own blocks and its own connections (the lane's number is their channel).
 */
export interface LaneContext {
  readonly rank: number;
  /** At least 2: with one rank there is nothing to build. */
  readonly rankCount: number;
  /** 0 where the collective has no root. */
  readonly root: number;
  readonly lane: number;
  readonly laneCount: number;
  /** `[rank]`: its machine, where that was said. */
  readonly hosts: readonly number[] | undefined;
  /** Index of the lane's first block, for dependencies between its blocks. */
  readonly firstBlock: number;
  /** Every rank, in order. */
  readonly everyRank: readonly number[];
  /** Every rank but this one, in order. */
  readonly peers: readonly number[];
  /** The chunk that is number `index` of this lane's share of a segment. */
  chunk(index: number, segment?: number): number;
  /** The scratch chunk that is number `index` of this lane's. */
  scratchChunk(index: number): number;
  /** The rank `distance` further around the ring; negative goes back. */
  neighbour(distance: number): number;
  /** Either end of this lane's connection with a peer. Builders with several connections to a peer name which. */
  to(peer: number, which?: number): { readonly peer: number; readonly channel: number };
}

/** One algorithm for one collective. */
export interface Builder {
  /** Into how many chunks a lane cuts its share of a segment; default 1. */
  readonly chunksPerLane?: (rankCount: number) => number;
  /** Connections that a lane has between the same two ranks, each with a channel of its own; default 1. */
  readonly connectionsPerLane?: number;
  /** Scratch chunks that a lane needs on a rank; default 0. */
  readonly scratchPerLane?: (place: { rank: number; rankCount: number; root: number }) => number;
  /** The steps of each of the lane's blocks; the same number of blocks on every rank. */
  readonly steps: (context: LaneContext) => readonly (readonly Step[])[];
  readonly inPlace: boolean;
  readonly outOfPlace: boolean;
  /** Reads or writes other ranks' buffers, so the ranks must share memory. */
  readonly usesDirect?: boolean;
  /** See Program. */
  readonly stepByStep?: boolean;
  /** Is of use only where the ranks are on several machines, and as many on each. */
  readonly needsHosts?: boolean;
  /** Most ranks that it is for; default: any number. */
  readonly maxRanks?: number;
  /** Most lanes that it can be cut into; default: any number. */
  readonly maxChannels?: number;
}
