import {
  type InterpretResult,
  interpretProgram,
  type Postcondition,
  type Program,
  postconditionOf,
  type ReduceOp,
} from "@dfccl/primitives";

/** Numbers so small that any order of reduction gives the same bits, and so different that a mix-up shows. */
export function inputsOf(program: Program, count: number, seed: number): number[][] {
  let state = (seed * 2654435761 + 12345) >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 1 + ((state >>> 16) % 8191);
  };
  return program.ranks.map(() => Array.from({ length: program.inputSegments * count }, next));
}

/** What the outputs must be; NaN where anything may be. */
export function expectedOutputs(
  program: Program,
  inputs: readonly (readonly number[])[],
  count: number,
  postcondition?: Postcondition,
): number[][] {
  // Seen as a program of one chunk a segment, an element of a segment is where its chunk is. A custom collective's chunks
  // are all whole, so its elements are found through them.
  const pieces = program.collective === "custom" ? program.chunksPerSegment : 1;
  const expected = postcondition ?? postconditionOf({ ...program, chunksPerSegment: 1 });
  const size = count / pieces;
  return program.ranks.map((_, rank) =>
    Array.from({ length: program.outputSegments * count }, (__, element) => {
      const terms = expected(rank, Math.floor(element / size));
      if (terms === undefined) return Number.NaN;
      return terms.reduce((sum, term) => sum + (inputs[term.rank]?.[term.chunk * size + (element % size)] ?? Number.NaN), 0);
    }),
  );
}

export interface Trial {
  readonly count: number;
  readonly seed: number;
  readonly inPlace: boolean;
  readonly tileElements?: number;
  readonly op?: ReduceOp;
}

export function runTrial(program: Program, inputs: readonly (readonly number[])[], trial: Trial): InterpretResult {
  return interpretProgram(program, { inputs, ...trial, inPlace: program.ranks.map(() => trial.inPlace) });
}
