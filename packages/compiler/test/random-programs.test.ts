import { type Program, ProgramError, verifyProgram } from "@dfccl/primitives";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ringAllGather } from "../src/algorithms/index.js";
import { type CompiledProgram, compile } from "../src/index.js";
import { mutant, mutations } from "./support/mutants.js";
import { randomAllReduce, randomCustomProgram } from "./support/random-program.js";
import { expectedOutputs, inputsOf, runTrial } from "./support/run-program.js";
import { Seeded } from "./support/seeded.js";

const programs = process.env.DFCCL_TEST_TIER === "long" ? 10_000 : 500;

const kinds = { custom: randomCustomProgram, "all-reduce": randomAllReduce };

describe.each(Object.entries(kinds))("a random %s program", (kind, makeProgram) => {
  it("compiles to what its meaning is, operation by operation", () => {
    const unfused = { some: 0 };
    const property = fc.property(fc.nat(), (seed) => {
      const compiled = compile(makeProgram(seed) as ReturnType<typeof randomAllReduce>);
      if (compiled.stages.keptApart.length > 0) unfused.some += 1;
      for (let schedule = 0; schedule < 3; schedule += 1) expect(wrongIn(compiled, compiled.program, seed + schedule)).toBeUndefined();
    });
    fc.assert(property, { numRuns: programs / 2 });
    // Circles of waits come up, and are taken apart: the way back to program order is taken here too.
    if (kind === "custom") expect(unfused.some).toBeGreaterThan(0);
  });

  it("compiles to the same bytes each time", () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const build = () => JSON.stringify(compile(makeProgram(seed) as ReturnType<typeof randomAllReduce>).program);
        expect(build()).toBe(build());
      }),
      { numRuns: 25 },
    );
  });

  it.each(mutations)("with a slip is refused, or computes the same: %s", (mutation) => {
    const outcomes = { refused: 0, harmless: 0 };
    const property = fc.property(fc.nat(), (seed) => {
      const compiled = compile(makeProgram(seed) as ReturnType<typeof randomAllReduce>);
      const slipped = mutant(compiled.program, mutation, new Seeded(seed));
      if (slipped === undefined) return;
      if (isRefused(slipped, compiled)) {
        outcomes.refused += 1;
        return;
      }
      outcomes.harmless += 1;
      for (let schedule = 0; schedule < 3; schedule += 1) expect(wrongIn(compiled, slipped, seed + schedule)).toBeUndefined();
    });
    fc.assert(property, { numRuns: Math.ceil(programs / 2 / mutations.length) });
    // Few programs need more than one slot; the test below has one that does.
    if (mutation !== "fewer slots") expect(outcomes.refused).toBeGreaterThan(0);
  });
});

it("is refused with fewer slots than it needs, and would hang", () => {
  const compiled = compile(ringAllGather({ ranks: 4 }));
  const slipped = mutant(compiled.program, "fewer slots", new Seeded(0));
  expect(slipped && isRefused(slipped, compiled)).toBe(true);
  expect(slipped && wrongIn(compiled, slipped, 1)).toMatch("deadlock");
});

function isRefused(program: Program, { postcondition }: CompiledProgram): boolean {
  try {
    verifyProgram(program, program.collective === "custom" ? { postcondition } : {});
    return false;
  } catch (error) {
    if (error instanceof ProgramError) return true;
    throw error;
  }
}

/** The first wrong element of a run in a schedule that the seed decides, or why it didn't end. */
function wrongIn({ postcondition }: CompiledProgram, program: Program, seed: number): string | undefined {
  const isCustom = program.collective === "custom";
  const count = isCustom ? 3 * program.chunksPerSegment : 1 + (seed % 7);
  const inputs = inputsOf(program, count, seed);
  const expected = expectedOutputs(program, inputs, count, isCustom ? postcondition : undefined);
  const inPlace = program.inPlace && (!program.outOfPlace || seed % 2 === 0);
  const result = runTrial(program, inputs, { count, seed, inPlace, tileElements: 1 + (seed % 3) });
  if (!result.ok) return `deadlock at ${JSON.stringify(result.waiting[0])}`;
  for (const [rank, values] of expected.entries()) {
    for (const [element, value] of values.entries()) {
      const got = result.outputs[rank]?.[element];
      if (!Number.isNaN(value) && got !== value) return `rank ${rank} element ${element} is ${got}, not ${value}`;
    }
  }
  return undefined;
}
