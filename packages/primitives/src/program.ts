import { type BufferKind, bufferKinds } from "./buffer-kind.js";
import { checkList } from "./check-kind.js";
import { checkInteger } from "./check-number.js";
import { checkObject } from "./check-object.js";
import { checkProgramFacts, checkRankProgram } from "./check-program.js";
import { type Collective, hasInput, hasOutput, inputSegmentsOf, outputSegmentsOf, takesRoot } from "./collective.js";
import { InvalidArgumentError } from "./errors.js";
import { opShapeOf } from "./op.js";
import type { Program, RankProgram, Step } from "./program-form.js";
import { type Protocol, protocolFactsOf } from "./protocol.js";

export { type BufferKind, bufferKinds } from "./buffer-kind.js";
export type { Block, ChunkRef, Dependency, LocalChunk, Program, RankProgram, RecvEnd, SendEnd, Step } from "./program-form.js";

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
  checkInteger("rank", rank, 0);
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
