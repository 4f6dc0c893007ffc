import type { Program } from "@dfccl/primitives";
import { expect } from "vitest";
import type { CompiledProgram } from "../../src/index.js";
import { expectedOutputs, inputsOf, runTrial } from "./run-program.js";

/** Where anything may be, any number is fine. */
function differences(outputs: readonly (readonly number[])[], expected: readonly (readonly number[])[]): string[] {
  return expected.flatMap((values, rank) =>
    values.flatMap((value, i) =>
      Number.isNaN(value) || value === outputs[rank]?.[i] ? [] : [`rank ${rank} element ${i}: ${outputs[rank]?.[i]}, not ${value}`],
    ),
  );
}

/** Runs a program in every placement that it claims, in a random schedule, and compares every element. */
export function checkOutputs({ name, program, postcondition }: CompiledProgram, count: number, seed: number): void {
  const isCustom = program.collective === "custom";
  const elements = isCustom ? Math.max(1, Math.round(count / program.chunksPerSegment)) * program.chunksPerSegment : count;
  const inputs = inputsOf(program, elements, seed);
  const expected = expectedOutputs(program, inputs, elements, isCustom ? postcondition : undefined);
  for (const inPlace of placementsOf(program)) {
    const result = runTrial(program, inputs, { count: elements, seed, inPlace, tileElements: 2 });
    expect(result.ok, `${name}, in place ${inPlace}`).toBe(true);
    expect(result.ok ? differences(result.outputs, expected) : [], `${name}, in place ${inPlace}`).toEqual([]);
  }
}

function placementsOf(program: Program): boolean[] {
  return [...(program.outOfPlace ? [false] : []), ...(program.inPlace ? [true] : [])];
}
