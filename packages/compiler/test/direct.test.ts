import { buildProgram, encodeAllRanks, isExchange, programLimits, protocols } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { allPairsAllGather, allPairsOneShotAllReduce, allPairsTwoShotAllReduce, ringAllReduce } from "../src/algorithms/index.js";
import {
  allReduce,
  type CompiledProgram,
  compile,
  custom,
  defineProgram,
  LanguageError,
  NotDirectError,
  type ProgramDefinition,
  reduce,
} from "../src/index.js";
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

describe("in phases", () => {
  const inPhases = (definition: ProgramDefinition) => compile({ ...definition, direct: "in phases" });

  it.each([2, 3, 4, 5, 6, 7, 8])("%i ranks reduce into their own outputs, and only then write to the others'", (ranks) => {
    for (const instances of [1, 4]) {
      const compiled = inPhases(allPairsTwoShotAllReduce({ ranks, instances }));
      const { program, report } = compiled;
      expect([report.connections, program.stepByStep, program.inPlace, program.outOfPlace]).toEqual([0, true, true, true]);
      program.ranks.forEach(({ blocks, scratchChunks }, rank) => {
        expect([blocks.length, scratchChunks]).toEqual([instances, 0]);
        for (const { steps } of blocks) {
          expect(steps.map(({ sources = [] }) => sources.length)).toEqual([ranks, 1]);
          expect(steps[0]?.destinations?.map((place) => place.rank)).toEqual([rank]);
          expect(steps[1]?.sources).toEqual(steps[0]?.destinations);
          expect(steps[1]?.destinations?.map((place) => place.rank)).not.toContain(rank);
          expect(steps[1]?.destinations).toHaveLength(ranks - 1);
        }
      });
      checkOutputs(compiled, 40 * ranks + 3, ranks);
    }
  });

  it.each([2, 3, 4, 5, 8])("on %i ranks, the two-shot that reduces in the order of ranks is byte for byte the built-in one", (ranks) => {
    const all = Array.from({ length: ranks }, (_, rank) => rank);
    const collective = allReduce({ ranks, chunks: ranks, inPlace: "either" });
    const twoShot = defineProgram({ collective }, ({ chunk }) => {
      for (const shard of all) for (const rank of all) if (rank !== shard) chunk(rank, "input", shard).copy(shard, "scratch", rank);
      for (const shard of all) {
        const from = (rank: number) => chunk(shard, rank === shard ? "input" : "scratch", rank);
        const sum = all.slice(1).reduce((partial, rank) => partial.reduce(from(rank)), from(0));
        const result = sum.copy(shard, "output", shard);
        for (const distance of all.slice(1)) result.copy((shard + distance) % ranks);
      }
    });
    for (const channels of [1, 4, 32]) {
      const { program } = inPhases({ ...twoShot, instances: channels } as ProgramDefinition);
      const builtIn = buildProgram({ collective: "all-reduce", algorithm: "direct-two-shot-in-phases", ranks, channels });
      expect(encodeAllRanks(program)).toEqual(encodeAllRanks(builtIn));
    }
  });

  it("each block reduces all that it reduces before it copies", () => {
    const collective = allReduce({ ranks: 2, chunks: 4, inPlace: "either" });
    const compiled = inPhases(
      defineProgram({ collective }, ({ chunk }) => {
        for (const index of [0, 1, 2, 3]) {
          const [mine, other] = [index % 2, 1 - (index % 2)];
          chunk(mine, "input", index).reduce(chunk(other, "input", index).copy(mine, "scratch", index));
          chunk(mine, "output", index).copy(other);
        }
      }) as ProgramDefinition,
    );
    for (const { blocks } of compiled.program.ranks) {
      expect(blocks.map(({ steps }) => steps.map(({ sources = [] }) => sources.length))).toEqual([[2, 2, 1, 1]]);
    }
    checkOutputs(compiled, 33, 1);
  });

  it("what its own rank doesn't want is reduced into scratch memory", () => {
    const compiled = inPhases(
      defineProgram({ collective: reduce({ ranks: 2, root: 0 }) }, ({ chunk }) => {
        chunk(0, "input").copy(1, "scratch", 0).reduce(chunk(1, "input")).copy(1, "scratch", 1).copy(0, "output", 0);
      }) as ProgramDefinition,
    );
    expect(compiled.program.ranks.map(({ scratchChunks }) => scratchChunks)).toEqual([0, 2]);
  });

  describe("is refused at its line", () => {
    const whyNot = (definition: ProgramDefinition): string => {
      try {
        inPhases(definition);
      } catch (error) {
        if (error instanceof LanguageError) return `${error.code} ${error.message}`;
        throw error;
      }
      throw new Error("it was not refused");
    };

    it("where messages would stay", () => {
      expect(whyNot(ringAllReduce({ ranks: 3 }))).toMatch(/^NOT_DIRECT .*:\d+:\d+: /);
    });

    it("where nothing is both reduced and handed on", () => {
      expect(whyNot(allPairsAllGather({ ranks: 3 }))).toMatch(/^NOT_IN_PHASES .*no reduction's result goes to other ranks/);
    });

    it("where a reduction takes the place of one that is still to be copied", () => {
      const collective = allReduce({ ranks: 2, chunks: 2 });
      const again = defineProgram({ collective }, ({ chunk }) => {
        for (const index of [0, 1]) {
          const sum = chunk(0, "input", index)
            .copy(1, "scratch", 0)
            .reduce(chunk(1, "input", index))
            .copy(1, "scratch", 1);
          sum.copy(0, "output", index);
          sum.copy(1, "output", index);
        }
      });
      expect(whyNot(again as ProgramDefinition)).toMatch(
        /^NOT_IN_PHASES .*direct\.test\.ts:\d+:\d+: .*must come after a copy to other ranks/,
      );
    });

    it("where blocks would wait for each other", () => {
      const collective = allReduce({ ranks: 2, inPlace: "either" });
      const acrossBlocks = defineProgram({ collective }, ({ chunk, parallelize }) => {
        parallelize(2, () => {
          chunk(0, "input").reduce(chunk(1, "input").copy(0, "scratch", 0));
          chunk(0, "output").copy(1);
        });
        chunk(0, "output").copy(0, "scratch", 1);
      });
      expect(whyNot(acrossBlocks as ProgramDefinition)).toMatch(/^NOT_IN_PHASES .*direct\.test\.ts:\d+:\d+: .*another block/);
    });
  });
});
