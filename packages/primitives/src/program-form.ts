import type { BufferKind } from "./buffer-kind.js";
import type { Collective } from "./collective.js";
import type { Op } from "./op.js";
import type { Protocol } from "./protocol.js";

/** A chunk of one of this rank's buffers; see chunk-geometry.ts for where it lies. */
export interface LocalChunk {
  readonly buffer: BufferKind;
  readonly chunk: number;
}

/** A chunk of any rank's buffers. `rank` is an index into the collective's rank list. */
export interface ChunkRef extends LocalChunk {
  readonly rank: number;
}

/** The sending end of connection (this rank, peer, channel). */
export interface SendEnd {
  readonly peer: number;
  readonly channel: number;
  /** Where the payload is written in the peer's buffers; the connection then carries a flag only. */
  readonly remote?: LocalChunk;
}

/** The receiving end of connection (peer, this rank, channel). */
export interface RecvEnd {
  readonly peer: number;
  readonly channel: number;
  /** Where the peer has written the payload in this rank's buffers; the connection then carries a flag only. */
  readonly landing?: LocalChunk;
}

/** A step of another block of the same rank. */
export interface Dependency {
  readonly block: number;
  /** Index within that block. */
  readonly step: number;
}

/** One instruction. Which operands it has follows from `op`; the verifier refuses any other combination. */
export interface Step {
  readonly op: Op;
  /** First of `count` chunks. */
  readonly src?: LocalChunk;
  /** First of `count` chunks. */
  readonly dst?: LocalChunk;
  /** Chunks that the step moves; 0 for a send or recv that is a bare signal. */
  readonly count: number;
  readonly send?: SendEnd;
  readonly recv?: RecvEnd;
  /** multiReduceCopy only: read in this order, which decides the bits. */
  readonly sources?: readonly ChunkRef[];
  /** multiReduceCopy only. */
  readonly destinations?: readonly ChunkRef[];
  /** Steps that must have finished the same tile before this one starts it. */
  readonly dependsOn?: readonly Dependency[];
  /** The reduced value is complete here: `avg` divides. */
  readonly finish?: boolean;
}

export interface Block {
  readonly steps: readonly Step[];
}

export interface RankProgram {
  readonly blocks: readonly Block[];
  /** Chunks of scratch memory, each as large as a full chunk. */
  readonly scratchChunks: number;
}

/**
 * What all ranks of a collective execute, the program of rank r in `ranks[r]`. A program doesn't depend on the number or
 * type of the elements: chunks are cut to fit, and the whole step list runs once for each tile of a chunk, unless they go step by step. Programs are
 * plain data and never change.
 */
export interface Program {
  readonly collective: Collective;
  /** Only where the collective has a root; the sender of send-recv. */
  readonly root?: number;
  readonly protocol: Protocol;
  readonly chunksPerSegment: number;
  readonly inputSegments: number;
  readonly outputSegments: number;
  /** Slots of every connection. The verifier's proof holds for this number and for any larger one. */
  readonly slotCount: number;
  /** May run with input and output being the same memory, as NCCL defines it (see in-place.ts). */
  readonly inPlace: boolean;
  /**
   * May run with separate buffers. A program that may run in both ways may also run with some ranks in place and others
   * not: what a rank reads is the same value either way.
   */
  readonly outOfPlace: boolean;
  /** Some step touches another rank's buffers, or the program wants the barrier that the engine then ends a run with. */
  readonly usesDirect: boolean;
  /**
   * Each step of a block runs for all tiles before the next one begins; otherwise the whole step list runs for each tile.
   * Only without connections and dependencies: those order steps within a tile.
   */
  readonly stepByStep: boolean;
  readonly ranks: readonly RankProgram[];
}
