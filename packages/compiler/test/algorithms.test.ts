import { type Program, protocols } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { type CompiledProgram, compile } from "../src/index.js";
import { everyAlgorithm } from "./support/every-algorithm.js";
import { expectedOutputs, inputsOf, runTrial } from "./support/run-program.js";

const variants = [1, 2, 4].flatMap((instances) => protocols.map((protocol) => ({ instances, protocol })));

/** Where anything may be, any number is fine. */
function differences(outputs: readonly (readonly number[])[], expected: readonly (readonly number[])[]): string[] {
  return expected.flatMap((values, rank) =>
    values.flatMap((value, i) =>
      Number.isNaN(value) || value === outputs[rank]?.[i] ? [] : [`rank ${rank} element ${i}: ${outputs[rank]?.[i]}, not ${value}`],
    ),
  );
}

function check({ name, program, postcondition }: CompiledProgram, count: number, seed: number): void {
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

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("on %i ranks, every algorithm", (ranks) => {
  it("is proven and computes what its collective promises, in every placement, with every protocol and 1, 2 and 4 instances", () => {
    for (const variant of ranks <= 6 ? variants : variants.slice(0, 1)) {
      for (const [number, definition] of everyAlgorithm(ranks, variant).entries()) check(compile(definition), 3 + ranks, number);
    }
  });
});

describe.each([9, 11, 12, 13, 15, 16])("on %i ranks, every algorithm", (ranks) => {
  it("is proven", () => {
    for (const definition of everyAlgorithm(ranks)) expect(compile(definition).report.steps).toBeGreaterThan(0);
  });
});
