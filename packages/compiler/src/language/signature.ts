import {
  type BufferKind,
  bufferChunks,
  type Collective,
  checkFunction,
  checkInteger,
  checkList,
  checkObject,
  checkOptions,
  createProgram,
  InvalidArgumentError,
  inPlaceShift,
  type OptionNames,
  type Placement,
  type Postcondition,
  type Program,
  postconditionOf,
  programLimits,
} from "@dfccl/primitives";

/** Buffers that a program may write: in place, the input is a part of the output. */
export type WritableBuffer<P extends Placement> = P extends false ? "output" | "scratch" : BufferKind;

/**
 * What a program promises to do: who has which buffers, how many chunks they have, whether they share memory, and what
 * the outputs must hold at the end.
 */
export interface Signature<W extends BufferKind = BufferKind> {
  readonly name: string;
  readonly collective: Collective;
  readonly ranks: number;
  readonly root: number | undefined;
  readonly chunksPerSegment: number;
  readonly inputSegments: number;
  readonly outputSegments: number;
  /** Whether input and output share memory; "either": the program must be right both ways. */
  readonly inPlace: Placement;
  readonly writable: readonly W[];
  readonly postcondition: Postcondition;
}

export interface SignatureOptions<P extends Placement> {
  readonly ranks: number;
  /** Into how many chunks each rank's share of the data is cut. Default 1. */
  readonly chunks?: number | undefined;
  /** Default false. */
  readonly inPlace?: P | undefined;
}

export interface RootedOptions<P extends Placement> extends SignatureOptions<P> {
  /** Default 0. */
  readonly root?: number | undefined;
}

const signatureNames: OptionNames<SignatureOptions<Placement>> = { ranks: true, chunks: true, inPlace: true };
const rootedNames: OptionNames<RootedOptions<Placement>> = { ...signatureNames, root: true };

type Standard = Exclude<Collective, "custom" | "barrier">;

function standard<P extends Placement>(collective: Standard, options: RootedOptions<P>, hasRoot = false): Signature<WritableBuffer<P>> {
  checkOptions<SignatureOptions<P>>("options", options, hasRoot ? rootedNames : signatureNames, "an object such as { ranks: 4 }");
  const { ranks, chunks = 1, inPlace = false, root = 0 } = options;
  checkSizes(ranks, chunks);
  if (typeof inPlace !== "boolean" && inPlace !== "either") throw new InvalidArgumentError("inPlace", inPlace, 'true, false or "either"');
  if (hasRoot && (!Number.isInteger(root) || root < 0 || root >= ranks)) {
    throw new InvalidArgumentError("root", root, `a rank from 0 to ${ranks - 1}`);
  }
  const shape = createProgram({
    collective,
    root: hasRoot ? root : undefined,
    chunksPerSegment: chunks,
    inPlace: inPlace !== false,
    outOfPlace: inPlace !== true,
    ranks: Array.from({ length: ranks }, () => ({ blocks: [] })),
  });
  return {
    name: collective,
    collective,
    ranks,
    root: shape.root,
    chunksPerSegment: chunks,
    inputSegments: shape.inputSegments,
    outputSegments: shape.outputSegments,
    inPlace,
    writable: (inPlace === false ? ["output", "scratch"] : ["input", "output", "scratch"]) as WritableBuffer<P>[],
    postcondition: postconditionOf(shape),
  };
}

/** Everybody gets the reduction of all inputs: `chunks` in, `chunks` out. */
export const allReduce = <const P extends Placement = false>(options: SignatureOptions<P>) => standard("all-reduce", options);
/** Everybody gets every input: `chunks` in, `ranks × chunks` out, rank r's from `r × chunks` on. */
export const allGather = <const P extends Placement = false>(options: SignatureOptions<P>) => standard("all-gather", options);
/** Rank r gets the reduction of everybody's share r: `ranks × chunks` in, `chunks` out. */
export const reduceScatter = <const P extends Placement = false>(options: SignatureOptions<P>) => standard("reduce-scatter", options);
/** Rank r gets share r of every input: `ranks × chunks` in and out. */
export const allToAll = <const P extends Placement = false>(options: SignatureOptions<P>) => standard("all-to-all", options);
/** The root gets the reduction of all inputs. */
export const reduce = <const P extends Placement = false>(options: RootedOptions<P>) => standard("reduce", options, true);
/** Everybody gets the root's input. */
export const broadcast = <const P extends Placement = false>(options: RootedOptions<P>) => standard("broadcast", options, true);
/** The root gets every input. */
export const gather = <const P extends Placement = false>(options: RootedOptions<P>) => standard("gather", options, true);
/** Rank r gets share r of the root's input. */
export const scatter = <const P extends Placement = false>(options: RootedOptions<P>) => standard("scatter", options, true);
/** The other of two ranks gets the root's input. */
export const sendRecv = (options: Omit<RootedOptions<false>, "inPlace" | "ranks">) => standard("send-recv", { ...options, ranks: 2 }, true);

export interface CustomOptions {
  readonly name: string;
  readonly ranks: number;
  readonly inputChunks: number;
  readonly outputChunks: number;
  /** What each output chunk must hold: a reduction of input chunks, or `undefined` for "anything, or nothing". */
  readonly postcondition: Postcondition;
}

const customNames: OptionNames<CustomOptions> = { name: true, ranks: true, inputChunks: true, outputChunks: true, postcondition: true };

/**
 * A collective of one's own. Its count, at registration, is the number of elements of one chunk, and its buffers never
 * share memory.
 */
export function custom(options: CustomOptions): Signature<WritableBuffer<false>> {
  checkOptions("options", options, customNames, "an object such as { name, ranks, inputChunks, outputChunks, postcondition }");
  const { name, ranks, inputChunks, outputChunks, postcondition } = options;
  for (const [argument, chunks] of Object.entries({ inputChunks, outputChunks })) {
    // Ranks may have no input, or no output.
    checkSizes(ranks, chunks === 0 ? 1 : chunks, argument);
  }
  if (typeof postcondition !== "function") throw new InvalidArgumentError("postcondition", postcondition, "a function of rank and chunk");
  return {
    name,
    collective: "custom",
    ranks,
    root: undefined,
    chunksPerSegment: 1,
    inputSegments: inputChunks,
    outputSegments: outputChunks,
    inPlace: false,
    writable: ["output", "scratch"],
    postcondition,
  };
}

/** Refuses what no function here returned. @throws {InvalidArgumentError} */
export function checkSignature(signature: Signature): void {
  const expected = "what allReduce(), custom() and so on return";
  checkObject("collective", signature, expected);
  checkSizes(signature.ranks, signature.chunksPerSegment);
  for (const field of ["inputSegments", "outputSegments"] as const) checkInteger(`collective.${field}`, signature[field], 0);
  checkList("collective.writable", signature.writable, expected);
  checkFunction("collective.postcondition", signature.postcondition, expected);
}

function checkSizes(ranks: number, chunks: number, argument = "chunks"): void {
  checkInteger("ranks", ranks, 1, 4096);
  checkInteger(argument, chunks, 1, programLimits.bufferChunks);
}

/** The program without steps that has this signature's buffers; `scratch[rank]` chunks of scratch. */
export function emptyProgram(signature: Signature, scratch: readonly number[] = []): Program {
  return createProgram({
    collective: signature.collective,
    root: signature.root,
    chunksPerSegment: signature.chunksPerSegment,
    inputSegments: signature.inputSegments,
    outputSegments: signature.outputSegments,
    inPlace: signature.inPlace !== false,
    outOfPlace: signature.inPlace !== true,
    ranks: Array.from({ length: signature.ranks }, (_, rank) => ({ blocks: [], scratchChunks: scratch[rank] })),
  });
}

/** A place in one rank's memory. */
export interface Place {
  readonly buffer: BufferKind;
  readonly index: number;
}

/**
 * Where chunks lie: one name for each place in memory. In place, where input and output share memory, it is the name in
 * the larger of the two, so that neighbours in memory are neighbours in name.
 */
export class Places {
  /** By rank: index of an output chunk minus that of the input chunk in the same memory. */
  private readonly shifts: readonly (number | undefined)[];
  private readonly sizes: readonly Readonly<Record<"input" | "output", number>>[];

  constructor(signature: Signature) {
    const program = emptyProgram(signature);
    this.shifts = program.ranks.map((_, rank) => (signature.inPlace === false ? undefined : inPlaceShift(program, rank)));
    this.sizes = program.ranks.map((_, rank) => ({
      input: bufferChunks(program, rank, "input"),
      output: bufferChunks(program, rank, "output"),
    }));
  }

  /** Chunks of a rank's buffer. Scratch grows with use. */
  size(rank: number, buffer: BufferKind): number {
    return buffer === "scratch" ? programLimits.bufferChunks : (this.sizes[rank]?.[buffer] ?? 0);
  }

  /** The one name of a place. */
  placeOf(rank: number, buffer: BufferKind, index: number): Place {
    const shift = this.shifts[rank];
    if (buffer === "scratch" || shift === undefined) return { buffer, index };
    if (this.size(rank, "input") > this.size(rank, "output")) return { buffer: "input", index: buffer === "input" ? index : index - shift };
    return { buffer: "output", index: buffer === "output" ? index : index + shift };
  }

  /** The input chunk that lies in a place, if one does. */
  inputAt(rank: number, { buffer, index }: Place): number | undefined {
    return this.named(rank, "input", buffer, index, -(this.shifts[rank] ?? 0));
  }

  /** The output chunk that lies in a place, if one does. */
  outputAt(rank: number, { buffer, index }: Place): number | undefined {
    return this.named(rank, "output", buffer, index, this.shifts[rank] ?? 0);
  }

  private named(rank: number, wanted: "input" | "output", buffer: BufferKind, index: number, shift: number): number | undefined {
    if (buffer === wanted) return index;
    if (buffer === "scratch" || this.shifts[rank] === undefined) return undefined;
    const shifted = index + shift;
    return shifted >= 0 && shifted < this.size(rank, wanted) ? shifted : undefined;
  }
}
