import { checkList, checkObject, checkProgram } from "@dfccl/primitives";
import type { CompiledProgram } from "./compiled-program.js";
import type { InstructionGraph } from "./passes/instruction-graph.js";

const expected = "what compile() returns";

/** Refuses what compile() didn't return. @throws {InvalidArgumentError}, {BadProgramError} */
export function checkCompiled(compiled: CompiledProgram): void {
  checkObject("compiled", compiled, expected);
  checkObject("compiled.stages", compiled.stages, expected);
  checkProgram(compiled.program);
  const { trace, replicated, instructions, simplified, fused, channels, blocks, keptApart } = compiled.stages;
  for (const [name, stage] of Object.entries({ trace, replicated, blocks })) checkObject(`compiled.stages.${name}`, stage, expected);
  for (const [name, list] of Object.entries({ channels, keptApart })) checkList(`compiled.stages.${name}`, list, expected);
  for (const [name, graph] of Object.entries({ instructions, simplified, fused })) checkGraph(`compiled.stages.${name}`, graph);
}

/** @throws {InvalidArgumentError} */
export function checkGraph(argument: string, graph: InstructionGraph): void {
  checkObject(argument, graph, expected);
  for (const list of ["instructions", "messages", "before"] as const) checkList(`${argument}.${list}`, graph[list], expected);
}
