import {
  type BuildableCollective,
  buildProgram,
  type DataType,
  encodeAllRanks,
  messageBytes,
  type Program,
  type SelectionChoice,
  selectProgram,
  takesRoot,
  verifyProgram,
} from "@dfccl/primitives";

/** A program ready to be registered: the bytes of every rank, and what a run may look like. */
export interface EncodedProgram {
  readonly ranks: readonly Uint8Array[];
  readonly inPlace: boolean;
  readonly outOfPlace: boolean;
  /** Ranks read or write one another's buffers. */
  readonly usesDirect: boolean;
}

interface Wanted {
  readonly collective: BuildableCollective;
  readonly ranks: number;
  readonly root: number;
  readonly count: number;
  readonly dataType: DataType;
  /** Whether ranks can reach one another's buffers. */
  readonly sharedMemory: boolean;
  /** `[member]`: its machine; undefined where all are on one. */
  readonly hosts?: readonly number[] | undefined;
}

const built = new Map<string, EncodedProgram>();
const encoded = new WeakMap<Program, EncodedProgram>();

/**
 * The program that the selection table gives: a pure function of what all ranks agree on. Whether a run is in place shows
 * only when it is submitted, so a program that allows both is preferred.
 */
export function chooseProgram(wanted: Wanted): EncodedProgram {
  const { collective, ranks, root, count, dataType, sharedMemory, hosts } = wanted;
  const choice = selectProgram({
    collective,
    ranks,
    inPlace: "either",
    bytes: messageBytes(collective, ranks, count, dataType),
    platform: { sharedMemory, ...(hosts && { hosts }) },
  });
  const key = JSON.stringify([collective, ranks, root, choice, hosts]);
  let program = built.get(key);
  if (program === undefined) {
    program = encode(build(wanted, choice));
    built.set(key, program);
  }
  return program;
}

/**
 * The binary form of a program of the caller's own, once it is proven.
 * @throws {ProgramError} naming rank, block and step, and the shortest counterexample.
 */
export function encodeOnce(program: Program): EncodedProgram {
  let result = encoded.get(program);
  if (result === undefined) {
    verifyProgram(program);
    result = encode(program);
    encoded.set(program, result);
  }
  return result;
}

function build({ collective, ranks, root, hosts }: Wanted, choice: SelectionChoice): Program {
  return buildProgram({ collective, ranks, hosts, inPlace: "either", ...(takesRoot(collective) ? { root } : {}), ...choice });
}

function encode(program: Program): EncodedProgram {
  // What in place would mean is defined for the standard collectives only (in-place.ts of @dfccl/primitives).
  const inPlace = program.inPlace && program.collective !== "custom";
  return { ranks: encodeAllRanks(program), inPlace, outOfPlace: program.outOfPlace, usesDirect: program.usesDirect };
}
