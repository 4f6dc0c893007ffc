import { type BufferKind, bufferKinds } from "./buffer-kind.js";
import { checkList } from "./check-kind.js";
import { checkObject } from "./check-object.js";
import { checkProgramFacts, checkRankProgram } from "./check-program.js";
import { type Collective, hasInput, hasOutput, inputSegmentsOf, outputSegmentsOf, takesRoot } from "./collective.js";
import { InvalidArgumentError } from "./errors.js";
import { type Op, opShapeOf } from "./op.js";
import { type Protocol, protocolFactsOf } from "./protocol.js";

export { type BufferKind, bufferKinds } from "./buffer-kind.js";

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

/** What a program is made from; the rest follows from it. */
export interface ProgramSpec {
  readonly collective: Collective;
  readonly root?: number | undefined;
  /** Default "simple". */
  readonly protocol?: Protocol | undefined;
  readonly chunksPerSegment: number;
  /** Needed for a custom collective only. */
  readonly inputSegments?: number | undefined;
  /** Needed for a custom collective only. */
  readonly outputSegments?: number | undefined;
  /** Default: that of the protocol. */
  readonly slotCount?: number | undefined;
  readonly inPlace: boolean;
  readonly outOfPlace: boolean;
  /** Default: whether some step touches another rank's buffers. */
  readonly usesDirect?: boolean | undefined;
  /** Default false. */
  readonly stepByStep?: boolean | undefined;
  /** `ranks[rank].blocks[block][step]`; no scratch unless stated. */
  readonly ranks: readonly { readonly blocks: readonly (readonly Step[])[]; readonly scratchChunks?: number | undefined }[];
}

/**
 * Fills in what follows from the collective, the protocol and the steps. Whether the program makes sense is the verifier's task.
 * @throws {InvalidArgumentError}, {BadProgramError} for what has not the form of a program.
 */
export function createProgram(spec: ProgramSpec): Program {
  checkObject("spec", spec, "an object such as { collective, chunksPerSegment: 1, inPlace: false, outOfPlace: true, ranks }");
  checkList("spec.ranks", spec.ranks, "a list such as [{ blocks: [steps] }]");
  const protocol = spec.protocol ?? "simple";
  const rankCount = spec.ranks.length;
  const segments = (of: typeof inputSegmentsOf, stated: number | undefined): number =>
    stated ?? (spec.collective === "custom" ? 0 : of(spec.collective, rankCount));
  const ranks = spec.ranks.map((rank, index) => {
    checkList(`spec.ranks[${index}].blocks`, rank?.blocks, "a list of lists of steps");
    const program = { blocks: rank.blocks.map((steps) => ({ steps })), scratchChunks: rank.scratchChunks ?? 0 };
    checkRankProgram(program, `ranks[${index}]`);
    return program;
  });
  const program: Program = {
    collective: spec.collective,
    ...(takesRoot(spec.collective) && spec.root !== undefined ? { root: spec.root } : {}),
    protocol,
    chunksPerSegment: spec.chunksPerSegment,
    inputSegments: segments(inputSegmentsOf, spec.inputSegments),
    outputSegments: segments(outputSegmentsOf, spec.outputSegments),
    slotCount: spec.slotCount ?? protocolFactsOf(protocol).slotCount,
    inPlace: spec.inPlace,
    outOfPlace: spec.outOfPlace,
    usesDirect: spec.usesDirect ?? ranks.some((rank, index) => touchesOtherRanks(rank, index)),
    stepByStep: spec.stepByStep ?? false,
    ranks,
  };
  checkProgramFacts(program);
  return program;
}

/** Whether some step of this rank reads or writes another rank's buffers. */
export function touchesOtherRanks(program: RankProgram, rank: number): boolean {
  return program.blocks.some(({ steps }) =>
    steps.some(
      (step) =>
        step.send?.remote !== undefined ||
        step.recv?.landing !== undefined ||
        [...(step.sources ?? []), ...(step.destinations ?? [])].some((ref) => ref.rank !== rank),
    ),
  );
}

/** Chunks of a rank's buffer; 0 where the collective gives that rank none. */
export function bufferChunks(program: Program, rank: number, buffer: BufferKind): number {
  checkProgramFacts(program);
  switch (buffer) {
    case "input":
      return hasInput(program.collective, rank, program.root) ? program.inputSegments * program.chunksPerSegment : 0;
    case "output":
      return hasOutput(program.collective, rank, program.root) ? program.outputSegments * program.chunksPerSegment : 0;
    case "scratch":
      return program.ranks[rank]?.scratchChunks ?? 0;
    default:
      throw new InvalidArgumentError("buffer", buffer, `one of ${bufferKinds.join(", ")}`);
  }
}

/**
 * Largest `count` of a rank's steps that put payload into a slot or take it out. A slot holds as many tiles as the largest
 * of all ranks, so that all cut their chunks into the same tiles.
 */
export function maxSlotChunks(rank: RankProgram): number {
  checkRankProgram(rank, "rank");
  let largest = 0;
  for (const { steps } of rank.blocks) {
    for (const step of steps) {
      const { sends, receives } = opShapeOf(step.op);
      const usesSlot = (sends && step.send?.remote === undefined) || (receives && step.recv?.landing === undefined);
      if (usesSlot) largest = Math.max(largest, step.count);
    }
  }
  return largest;
}
