import type { ProgramDefinition } from "../../src/index.js";
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
