import { custom, defineProgram, type ProgramDefinition } from "../../src/index.js";
import { traceProgram } from "../../src/language/trace-program.js";
import { generateInstructions } from "../../src/passes/generate-instructions.js";
import type { InstructionGraph } from "../../src/passes/instruction-graph.js";
import { replicate } from "../../src/passes/replicate.js";

export const once = { instances: 1, replication: "interleaved" } as const;

/** The instructions of a program, before anything is done with them. */
export function instructionsOf(definition: ProgramDefinition | ProgramDefinition<"output" | "scratch">): InstructionGraph {
  return generateInstructions(replicate(traceProgram(definition as ProgramDefinition), once));
}

/** "rank op", in order. */
export function opsOf(graph: InstructionGraph): string[] {
  return graph.instructions.flatMap((one) => (one === undefined ? [] : [`${one.rank} ${one.op}`]));
}

const anything = (ranks: number, chunks = 1) =>
  custom({ name: "anything", ranks, inputChunks: chunks, outputChunks: chunks, postcondition: () => undefined });
/** A program that promises nothing of its outputs. */
export const program = (ranks: number, body: ProgramDefinition<"output" | "scratch">["body"], chunks = 1) =>
  defineProgram({ collective: anything(ranks, chunks) }, body);

/** Rank 0's data goes to 1 and on to 2. */
export const relay = (first?: number, second?: number) =>
  program(3, ({ chunk }) => {
    chunk(0, "input").copy(1, "output", 0, { channel: first }).copy(2, "output", 0, { channel: second });
  });
