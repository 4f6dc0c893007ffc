import { describe, expect, it } from "vitest";
import { allReduce, defineProgram } from "../../src/index.js";
import { absorbReceives } from "../../src/passes/absorb-receives.js";
import { mergeReductions } from "../../src/passes/merge-reductions.js";
import { instructionsOf, opsOf, program } from "./support.js";

describe("instructions", () => {
  it("are one within a rank and two between ranks", () => {
    expect(
      opsOf(
        instructionsOf(
          program(2, ({ chunk }) => {
            const c = chunk(0, "input").copy(0, "scratch", 0);
            c.reduce(chunk(1, "input")).reduce(chunk(0, "input"));
          }),
        ),
      ),
    ).toEqual(["0 copy", "1 send", "0 recvReduceCopy", "0 reduce"]);
  });

  it("name raw data input and written data output, and bring raw chunks over where a span has both", () => {
    const definition = defineProgram({ collective: allReduce({ ranks: 2, chunks: 2, inPlace: true }) }, ({ chunk }) => {
      chunk(0, "input", 0).reduce(chunk(1, "input", 0));
      chunk(0, "input", 1).copy(1, "scratch", 0);
      const all = chunk(0, "input", 0, 2).copy(1, "scratch", 1); // 0 is a sum, 1 still raw
      chunk(0, "input", 1).reduce(chunk(1, "input", 1));
      all.copy(0, "scratch", 0);
      chunk(0, "output", 0, 2).copy(1);
    });
    const { instructions } = instructionsOf(definition);
    const sources = instructions.filter((one) => one?.rank === 0 && one.op === "send").map((one) => [one?.src?.buffer, one?.count]);
    expect(sources).toEqual([
      ["input", 1],
      ["output", 2],
      ["output", 2],
    ]);
    const broughtOver = instructions.find((one) => one?.op === "copy" && one.operations.length === 0);
    expect([broughtOver?.src, broughtOver?.dst]).toEqual([
      { buffer: "input", chunk: 1 },
      { buffer: "output", chunk: 1 },
    ]);
  });
});

describe("absorbing receives", () => {
  it("makes one instruction of a receive and the reduction that is its only use", () => {
    const definition = (reads: boolean) =>
      program(2, ({ chunk }) => {
        const c = chunk(0, "input").copy(1, "scratch", 0);
        if (reads) chunk(1, "scratch").copy(1, "scratch", 1);
        (reads ? chunk(1, "scratch") : c).reduce(chunk(1, "input")).copy(1, "output", 0);
      });
    expect(opsOf(absorbReceives(instructionsOf(definition(false))))).toEqual(["0 send", "1 recvReduceCopy", "1 copy"]);
    expect(opsOf(absorbReceives(instructionsOf(definition(true))))).toEqual(["0 send", "1 recv", "1 copy", "1 reduce", "1 copy"]);
  });
});

describe("merging reductions", () => {
  it("makes one sum of a row of them and the copy behind it, in the same order", () => {
    const definition = program(
      1,
      ({ chunk }) => {
        const sum = chunk(0, "input", 2).copy(0, "scratch", 0);
        sum
          .reduce(chunk(0, "input", 0))
          .reduce(chunk(0, "input", 1))
          .copy(0, "output", 0);
      },
      3,
    );
    const merged = mergeReductions(instructionsOf(definition)).instructions.filter((one) => one !== undefined);
    expect(merged.map(({ op }) => op)).toEqual(["copy", "multiReduceCopy"]);
    expect(merged[1]?.sources?.map(({ buffer, chunk }) => `${buffer} ${chunk}`)).toEqual(["scratch 0", "input 0", "input 1"]);
    expect(merged[1]?.dst).toEqual({ buffer: "output", chunk: 0 });
  });

  it("leaves a partial sum that somebody else reads", () => {
    const definition = program(
      1,
      ({ chunk }) => {
        const partial = chunk(0, "input", 2)
          .copy(0, "output", 0)
          .reduce(chunk(0, "input", 0));
        partial.copy(0, "output", 1);
        partial.reduce(chunk(0, "input", 1));
      },
      3,
    );
    expect(opsOf(mergeReductions(instructionsOf(definition)))).toEqual(["0 copy", "0 reduce", "0 copy", "0 reduce"]);
  });
});
