import { isExchange, programLimits, protocols } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { allPairsAllGather, allPairsOneShotAllReduce, allPairsTwoShotAllReduce } from "../src/algorithms/index.js";
import { allReduce, type CompiledProgram, compile, custom, defineProgram, NotDirectError, type ProgramDefinition } from "../src/index.js";
import { checkOutputs } from "./support/check-outputs.js";
import { everyAlgorithm } from "./support/every-algorithm.js";
import { randomCustomProgram } from "./support/random-program.js";

/** Undefined where it must stay with messages. */
function compileDirect(definition: ProgramDefinition): CompiledProgram | undefined {
  try {
    return compile({ ...definition, direct: true });
  } catch (error) {
    expect(error).toBeInstanceOf(NotDirectError);
    return undefined;
  }
}

const stepsOf = ({ program }: CompiledProgram): number[] => program.ranks.flatMap(({ blocks }) => blocks.map(({ steps }) => steps.length));

describe.each([2, 3, 4, 5, 8])("on %i ranks, direct", (ranks) => {
  it("every algorithm is refused, or has no connection and computes what its collective promises", () => {
    const direct = new Set<string>();
    for (const instances of [1, 2, 4]) {
      for (const protocol of protocols) {
        for (const [seed, definition] of everyAlgorithm(ranks, { instances, protocol }).entries()) {
          const compiled = compileDirect(definition);
          if (compiled === undefined) continue;
          expect(compiled.report.connections).toBe(0);
          checkOutputs(compiled, 3 + ranks, seed);
          direct.add(compiled.name);
        }
      }
    }
    expect([...direct]).toEqual(
      expect.arrayContaining([
        "all-gather all-pairs",
        "all-reduce all-pairs one-shot",
        "all-reduce all-pairs two-shot",
        "reduce-scatter all-pairs",
        "all-to-all all-pairs",
      ]),
    );
  });

  it("an all-reduce between all pairs is one step a block: reading everywhere and writing everywhere, or an exchange", () => {
    const twoShot = compile(allPairsTwoShotAllReduce({ ranks, instances: 4, direct: true }));
    const oneShot = compile(allPairsOneShotAllReduce({ ranks, instances: 4, direct: true, protocol: "ll" }));
    for (const compiled of [twoShot, oneShot]) {
      expect(stepsOf(compiled)).toEqual(Array.from({ length: 4 * ranks }, () => 1));
      expect(compiled.program.ranks.every(({ scratchChunks }) => scratchChunks === 0)).toBe(true);
    }
    expect([isExchange(twoShot.program), isExchange(oneShot.program)]).toEqual([false, true]);
  });
});

it("a move reads from and writes to as many ranks as the engine can, and to more than that is refused", () => {
  for (const algorithm of [allPairsAllGather, allPairsTwoShotAllReduce]) {
    expect(compile(algorithm({ ranks: 66, direct: true })).report.connections).toBe(0);
  }
  const tooMany = programLimits.references + 1;
  expect(() => compile(allPairsAllGather({ ranks: tooMany, direct: true }))).toThrow(
    /all-gather\.ts:.*one step writes to 256 places at most/,
  );
});

it("random programs are refused, or mean what they mean with messages", () => {
  let direct = 0;
  for (let seed = 0; seed < 1000; seed += 1) {
    const compiled = compileDirect(randomCustomProgram(seed) as ProgramDefinition);
    if (compiled === undefined) continue;
    direct += 1;
    checkOutputs(compiled, 4 * compiled.program.chunksPerSegment, seed);
  }
  expect(direct).toBeGreaterThan(100);
});

describe("what can't be direct is refused at its line", () => {
  const whyNot = (definition: ProgramDefinition): string => {
    try {
      compile({ ...definition, direct: true });
    } catch (error) {
      if (error instanceof NotDirectError) return error.message;
      throw error;
    }
    throw new Error("it was not refused");
  };

  it("in place, reading what its owner overwrites, unless it is sent first as protocol ll does", () => {
    expect(whyNot(allPairsOneShotAllReduce({ ranks: 2 }))).toMatch(/all-reduce\.ts:\d+:\d+: .*overwrites what others may still read/);
  });

  it.each(["scratch", "output"] as const)("what arrives in %s for a reduction, and is wanted once more", (buffer) => {
    const collective = custom({
      name: "twice",
      ranks: 2,
      inputChunks: 1,
      outputChunks: 2,
      postcondition: (rank, output) =>
        rank === 1
          ? undefined
          : [
              { rank: 1, chunk: 0 },
              { rank: 0, chunk: 0 },
            ].slice(0, 2 - output),
    });
    const twice = defineProgram({ collective }, ({ chunk }) => {
      const sent = chunk(1, "input").copy(0, buffer, 1);
      chunk(0, "input").copy(0, "scratch", 0).reduce(sent).copy(0, "output", 0);
      if (buffer === "scratch") sent.copy(0, "output", 1);
    });
    expect(compile(twice).report.connections).toBe(1);
    expect(whyNot(twice as ProgramDefinition)).toMatch(/direct\.test\.ts:\d+:\d+: .*it needs what another rank makes/);
  });

  it("a sum that goes from rank to rank", () => {
    const collective = allReduce({ ranks: 3 });
    const chain = defineProgram({ collective }, ({ chunk }) => {
      const sum = chunk(2, "input").copy(2, "output", 0).reduce(chunk(1, "input")).reduce(chunk(0, "input"));
      sum.copy(0, "output", 0).copy(1, "output", 0);
    });
    expect(whyNot(chain as ProgramDefinition)).toMatch(/direct\.test\.ts:\d+:\d+: .*adds to what came before/);
  });
});
