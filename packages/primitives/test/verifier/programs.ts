import { copy, input, output, recv, scratch, send } from "../../src/builders/step-factory.js";
import { type Collective, createProgram, type Program, ProgramError, type ProgramSpec, type Step, verifyProgram } from "../../src/index.js";

/** A program of one segment chunk in which rank r has the blocks `ranks[r]`. */
export function program(collective: Collective, ranks: readonly (readonly Step[])[][], spec: Partial<ProgramSpec> = {}): Program {
  return createProgram({
    collective,
    chunksPerSegment: 1,
    inPlace: false,
    outOfPlace: true,
    ...(collective === "custom" ? { inputSegments: 1, outputSegments: 1 } : {}),
    ...spec,
    ranks: ranks.map((blocks) => ({ blocks, scratchChunks: 1 })),
  });
}

export function refusal(refused: Program): ProgramError {
  try {
    verifyProgram(refused);
  } catch (error) {
    if (error instanceof ProgramError) return error;
    throw error;
  }
  throw new Error("the program was not refused");
}

export const to = (peer: number, channel = 0) => ({ peer, channel });
export const [in0, out0, tmp0] = [input(0), output(0), scratch(0)];

export interface Rule {
  readonly code: string;
  readonly says: string;
  /** Right, and as close as possible to the wrong one. */
  readonly accepted: Program;
  readonly refused: Program;
  readonly facts?: Record<string, unknown>;
}

export const passMessage: (readonly Step[])[][] = [[[copy(out0, in0), send(in0, to(1))]], [[recv(out0, to(0))]]];
export const broadcast = (ranks: (readonly Step[])[][], spec: Partial<ProgramSpec> = {}): Program =>
  program("broadcast", ranks, { root: 0, ...spec });
