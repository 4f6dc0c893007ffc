import { type BufferKind, checkObject, checkOptions, type OptionNames, type Protocol } from "@dfccl/primitives";
import { checkBody } from "./check-body.js";
import type { ChunkReference } from "./chunk-reference.js";
import type { Signature } from "./signature.js";

/** What the body of a program sees. */
export interface Language<W extends BufferKind = BufferKind> {
  /** Number of ranks. */
  readonly ranks: number;
  /** The chunks that are in a place now. @throws where they hold nothing or don't exist. */
  chunk(rank: number, buffer: BufferKind, index?: number, count?: number): ChunkReference<W>;
  /**
   * Cuts each operation of the body into `factor` operations on as many shares of the data, each on channels of its own,
   * so that they run side by side.
   * @see GC3, section 5.1
   */
  parallelize(factor: number, body: () => void): void;
}

/** Whether and how a program does without messages. */
export type DirectForm = boolean | "in phases";

export interface ProgramOptions<W extends BufferKind> {
  /** Default: the collective's. */
  readonly name?: string | undefined;
  readonly collective: Signature<W>;
  /** Default "simple". */
  readonly protocol?: Protocol | undefined;
  /** How many copies of the whole program work side by side, each on its share of every chunk. Default 1. */
  readonly instances?: number | undefined;
  /**
   * Which share an instance has. "interleaved" (default): a span of chunks is cut as a whole, so its parts stay contiguous
   * wherever they are. "blocked": the segment is cut as a whole, and each instance works within its part of it.
   */
  readonly replication?: "interleaved" | "blocked" | undefined;
  /**
   * The ranks share memory: in place of messages, reductions read what lies on other ranks and write results to where they
   * are wanted, so that each byte crosses once. With protocol "ll", where everybody reduces everything for itself, each
   * rank sends its data to all at once. Refused at the line of a copy that must stay a message. "in phases": what is reduced
   * and then goes to other ranks is first reduced into its own rank's memory, all of it, and then copied out, so that reads
   * and writes of others' memory don't mix: for large data on GPUs. Default false.
   */
  readonly direct?: DirectForm | undefined;
  /** Slots of every connection; default: the protocol's. */
  readonly slotCount?: number | undefined;
}

const optionNames: OptionNames<ProgramOptions<BufferKind>> = {
  name: true,
  collective: true,
  protocol: true,
  instances: true,
  replication: true,
  direct: true,
  slotCount: true,
};

/** Marks definitions, whichever copy of this package made them. */
const brand = "dfccl.program-definition";

/** A program as its author wrote it. */
export interface ProgramDefinition<W extends BufferKind = BufferKind> extends ProgramOptions<W> {
  readonly kind: typeof brand;
  readonly body: (language: Language<W>) => void;
}

/**
 * Defines a collective, or another way to carry one out.
 * @param body - runs once, at compile time, and says which chunk goes where.
 * @throws {UnknownOptionError}; {InvalidArgumentError} where that isn't what was given, or an async body.
 */
export function defineProgram<W extends BufferKind>(
  options: ProgramOptions<W>,
  body: (language: Language<W>) => void,
): ProgramDefinition<W> {
  checkOptions<ProgramOptions<W>>("options", options, optionNames, "an object such as { collective: allReduce({ ranks: 4 }) }");
  checkObject("collective", options.collective, "what allReduce(), custom() and so on return");
  checkBody("body", body);
  return { ...options, kind: brand, body };
}

export function isProgramDefinition(value: unknown): value is ProgramDefinition {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === brand;
}
