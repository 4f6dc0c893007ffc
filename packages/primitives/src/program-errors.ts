import { DfcclError, type ErrorFacts, readWords, type Words } from "./errors.js";
import type { LocalChunk } from "./program-form.js";

/** A step of one rank's program. */
export interface StepPosition {
  readonly rank: number;
  readonly block: number;
  readonly step: number;
}

export function formatStep({ rank, block, step }: StepPosition): string {
  return `rank ${rank} block ${block} step ${step}`;
}

export function formatChunk(rank: number, { buffer, chunk }: LocalChunk): string {
  return `${buffer} chunk ${chunk} of rank ${rank}`;
}

/** A program was refused. `position` is the step to look at, where one is to blame. */
export abstract class ProgramError extends DfcclError {
  readonly position: StepPosition | undefined;

  constructor(what: Words<string>, remedy: Words<string>, facts: ErrorFacts = {}, position?: StepPosition) {
    super(
      () => (position === undefined ? readWords(what) : `At ${formatStep(position)}: ${readWords(what)}`),
      () => ({ facts: position === undefined ? facts : { ...position, ...facts }, remedy: readWords(remedy) }),
    );
    this.position = position;
  }
}

/** The bytes aren't a program. `facts.offset` is the byte where that shows. */
export class MalformedProgramError extends ProgramError {
  override readonly code = "MALFORMED_PROGRAM";

  constructor(what: string, offset: number, facts: ErrorFacts = {}) {
    super(
      `The binary program is malformed at byte ${offset}: ${what}.`,
      "Write programs with encodeProgram and pass the bytes on unchanged.",
      { offset, ...facts },
    );
  }
}

/** The facts of the whole program contradict each other or its collective. */
export class BadProgramError extends ProgramError {
  override readonly code = "BAD_PROGRAM";

  constructor(what: string, remedy: string, facts: ErrorFacts = {}) {
    super(what, remedy, facts);
  }
}

/** A step lacks an operand, has one too many, or names a rank, block or step that doesn't exist. */
export class BadStepError extends ProgramError {
  override readonly code = "BAD_STEP";

  constructor(position: StepPosition, what: string, remedy: string, facts: ErrorFacts = {}) {
    super(what, remedy, facts, position);
  }
}

/** A step names chunks that its buffer doesn't have. */
export class OutOfBoundsError extends ProgramError {
  override readonly code = "OUT_OF_BOUNDS";

  constructor(position: StepPosition, buffer: string, first: number, count: number, available: number) {
    super(
      () => `chunks ${first} to ${first + count - 1} of ${buffer} don't exist, it has ${available}.`,
      "Name chunks below the buffer's segments times chunksPerSegment, or ask for more scratch chunks.",
      { buffer, first, count, available },
      position,
    );
  }
}

/** Two blocks use one end of a connection, so the order of its messages would depend on their timing. */
export class ConnectionSharedError extends ProgramError {
  override readonly code = "CONNECTION_SHARED";

  constructor(position: StepPosition, other: StepPosition, end: "send" | "recv", peer: number, channel: number) {
    super(
      () => `its ${end} connection (peer ${peer}, channel ${channel}) belongs to ${formatStep(other)} already.`,
      "Give each block a channel of its own.",
      { other, end, peer, channel },
      position,
    );
  }
}

/** A connection sees more sends than receives, or the other way round. */
export class UnmatchedSendError extends ProgramError {
  override readonly code = "UNMATCHED_SEND";

  constructor(position: StepPosition, connection: ConnectionName, sends: number, recvs: number) {
    super(
      () => `connection ${formatConnection(connection)} has ${sends} sends and ${recvs} receives; this step has no partner.`,
      "Send and receive equally often on every connection.",
      { connection, sends, recvs },
      position,
    );
  }
}

/** The two ends of a message disagree about its size or about where it lands. */
export class PayloadMismatchError extends ProgramError {
  override readonly code = "PAYLOAD_MISMATCH";

  constructor(position: StepPosition, partner: StepPosition, connection: ConnectionName, sent: string, expected: string) {
    super(
      () => `it receives ${expected}, but ${formatStep(partner)} sends ${sent} on connection ${formatConnection(connection)}.`,
      "Give both ends the same count, and with direct access the same landing place.",
      { partner, connection, sent, expected },
      position,
    );
  }
}

/** Why a step can't start before another has finished. */
export type WaitReason = "comes after" | "receives from" | "needs a slot freed by" | "depends on";

export interface Wait {
  readonly waiter: StepPosition;
  readonly reason: WaitReason;
  readonly awaited: StepPosition;
}

function formatWait({ waiter, reason, awaited }: Wait): string {
  return `${formatStep(waiter)} ${reason} ${formatStep(awaited)}`;
}

/** Steps wait for each other in a circle, so none of them can ever run. `cycle` is the shortest such circle. */
export class CyclicProgramError extends ProgramError {
  override readonly code = "CYCLIC_PROGRAM";
  readonly cycle: readonly Wait[];

  constructor(cycle: readonly Wait[], slotCount: number) {
    super(
      () => `${cycle.length} steps wait for each other in a circle: ${cycle.map(formatWait).join(", ")}.`,
      () =>
        cycle.some(({ reason }) => reason === "needs a slot freed by")
          ? `Receive earlier, or use more than ${slotCount} slots.`
          : "Take out one of these dependencies, or let one of the ranks send before it receives.",
      { cycle, slotCount },
      cycle?.[0]?.waiter,
    );
    this.cycle = cycle;
  }
}

/** A step reads a chunk that nobody has written. */
export class UninitialisedReadError extends ProgramError {
  override readonly code = "UNINITIALISED_READ";

  constructor(position: StepPosition, chunk: string, remedy: string) {
    super(`it reads ${chunk}, which nobody has written before.`, remedy, { chunk }, position);
  }
}

/** In place, a step reads a rank's input after the output that shares its memory was written. */
export class OverwrittenInputError extends ProgramError {
  override readonly code = "OVERWRITTEN_INPUT";

  constructor(position: StepPosition, chunk: string, writer: StepPosition) {
    super(
      () => `in place, it reads ${chunk} after ${formatStep(writer)} has overwritten it.`,
      "Name data that the program has written `output`, or don't offer the program in place.",
      { chunk, writer },
      position,
    );
  }
}

/** Two steps access one chunk, at least one writes it, and nothing orders them. */
export class DataRaceError extends ProgramError {
  override readonly code = "DATA_RACE";

  constructor(position: StepPosition, other: StepPosition, chunk: string, kinds: string, mode: string) {
    super(
      () => `it races with ${formatStep(other)} on ${chunk} (${kinds}, ${mode}): nothing decides which comes first.`,
      "Order them by a message or a dependency, or let them use different chunks.",
      { other, chunk, kinds, mode },
      position,
    );
  }
}

/**
 * A step writes data into an output chunk at another place of the segment than the data comes from. Chunks at the end of
 * a segment are shorter where the count isn't a multiple of the chunks, so the data might not fit.
 */
export class MisplacedChunkError extends ProgramError {
  override readonly code = "MISPLACED_CHUNK";

  constructor(position: StepPosition, chunk: string, holds: string) {
    super(
      `it writes ${holds} to ${chunk}, which may be shorter.`,
      "Keep data on its way in scratch chunks: those are never short.",
      { chunk, holds },
      position,
    );
  }
}

/** `finish` stands on a step whose value is no complete reduction, or a finished value is reduced again. */
export class BadFinishError extends ProgramError {
  override readonly code = "BAD_FINISH";

  constructor(position: StepPosition, what: string, facts: ErrorFacts = {}) {
    super(what, "Use annotateFinish to mark the steps.", facts, position);
  }
}

/** An output doesn't hold what the collective promises. */
export class PostconditionError extends ProgramError {
  override readonly code = "POSTCONDITION";

  constructor(facts: { rank: number; chunk: number; holds: string; expected: string; mode: string }, writer?: StepPosition) {
    super(
      () =>
        `${facts.mode}, output chunk ${facts.chunk} of rank ${facts.rank} ends up with ${facts.holds} ` +
        `and should hold ${facts.expected}.`,
      writer === undefined ? "Add the step that writes it." : "Follow the value back from the step that wrote it last.",
      facts,
      writer,
    );
  }
}

/** A barrier lets a rank pass before another one has arrived. */
export class BarrierError extends ProgramError {
  override readonly code = "BARRIER";

  constructor(rank: number, missing: number) {
    super(
      `Rank ${rank} can leave the barrier before rank ${missing} has entered it.`,
      "Let a chain of signals lead from every rank to every other.",
      { rank, missing },
    );
  }
}

export interface ConnectionName {
  readonly source: number;
  readonly destination: number;
  readonly channel: number;
}

export function formatConnection({ source, destination, channel }: ConnectionName): string {
  return `${source} → ${destination} channel ${channel}`;
}
