import { describe, expect, it } from "vitest";
import { awaitSignal, copy, input, multiReduceCopy, on, output, scratch, signal } from "../src/builders/step-factory.js";
import {
  buildProgram,
  createProgram,
  type InterpretResult,
  InvalidArgumentError,
  interpretProgram,
  type Program,
  verifyProgram,
} from "../src/index.js";

const seeds = Array.from({ length: 40 }, (_, seed) => seed);
const outcomes = (program: Program, options: { inPlace?: boolean[] } = {}): Set<string> =>
  new Set(
    seeds.map((seed) =>
      JSON.stringify(
        interpretProgram(program, {
          inputs: [
            [1, 2],
            [10, 20],
          ],
          count: 2,
          seed,
          tileElements: 1,
          ...options,
        }),
      ),
    ),
  );

describe("interpretProgram", () => {
  it("computes every operator", () => {
    const program = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 3 });
    const run = (op: "sum" | "prod" | "min" | "max" | "avg" | "scaled-sum"): InterpretResult =>
      interpretProgram(program, { inputs: [[3], [6], [9]], count: 1, op, scalars: [10, 100, 1000] });
    const everywhere = (value: number) => expect.objectContaining({ ok: true, outputs: [[value], [value], [value]] });
    expect(run("sum")).toEqual(everywhere(18));
    expect(run("prod")).toEqual(everywhere(162));
    expect(run("min")).toEqual(everywhere(3));
    expect(run("max")).toEqual(everywhere(9));
    expect(run("avg")).toEqual(everywhere(6));
    expect(run("scaled-sum")).toEqual(everywhere(30 + 600 + 9000));
  });

  it.each([
    ["bit-and", 2 ** 40 + 2 ** 31, -1, 2 ** 31, 2 ** 31],
    ["bit-or", 2 ** 31, 2 ** 40, 1, 2 ** 40 + 2 ** 31 + 1],
    ["bit-xor", 2 ** 31, 2 ** 40 + 2 ** 31, 0, 2 ** 40],
    ["bit-or", -(2 ** 40), 1, 2, -(2 ** 40) + 3],
    ["bit-xor", 1.5, 1, 1, Number.NaN],
  ] as const)("computes %s of whole numbers beyond 32 bits, and of no other: %d, %d, %d", (op, first, second, third, expected) => {
    const program = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 3 });
    const outcome = interpretProgram(program, { inputs: [[first], [second], [third]], count: 1, op });
    expect(outcome).toMatchObject({ ok: true, outputs: [[expected], [expected], [expected]] });
  });

  it("says where everybody stands in a deadlock", () => {
    const ranks = [1, 0].map((peer) => ({ blocks: [[awaitSignal({ peer, channel: 0 }), signal({ peer, channel: 0 })]] }));
    const stuck = createProgram({ collective: "barrier", chunksPerSegment: 1, inPlace: true, outOfPlace: true, ranks });
    expect(interpretProgram(stuck, { inputs: [[], []], count: 0 })).toEqual({
      ok: false,
      reason: "deadlock",
      waiting: [
        { rank: 0, block: 0, step: 0 },
        { rank: 1, block: 0, step: 0 },
      ],
    });
  });

  it("gives one result for all schedules of a right program, and several for a racing one", () => {
    const staged = buildProgram({ collective: "all-reduce", algorithm: "direct-one-shot", ranks: 2, inPlace: true });
    expect(outcomes(staged, { inPlace: [true, true] }).size).toBe(1);
    // The same algorithm without staging: in place, the second rank may read what the first has written.
    const unstaged = buildProgram({ collective: "all-reduce", algorithm: "direct-one-shot", ranks: 2 });
    expect(outcomes(unstaged).size).toBe(1);
    expect(outcomes(unstaged, { inPlace: [true, true] }).size).toBeGreaterThan(1);
  });

  it("takes a rank's memory away once it has completed, so that a missing end barrier shows", () => {
    const pull = buildProgram({ collective: "broadcast", algorithm: "direct", ranks: 2 });
    expect(outcomes(pull).size).toBe(1);
    const withoutBarrier = { ...pull, usesDirect: false };
    expect(() => verifyProgram(withoutBarrier)).toThrow("usesDirect");
    expect(outcomes(withoutBarrier).size).toBeGreaterThan(1);
  });

  it("moves as many elements as the shortest operand has", () => {
    // Three elements in two chunks: the second chunk is short, its scratch chunk is not.
    const viaScratch = createProgram({
      collective: "broadcast",
      root: 0,
      chunksPerSegment: 2,
      inPlace: false,
      outOfPlace: true,
      ranks: [{ blocks: [[copy(scratch(0), input(1)), copy(output(0), input(0)), copy(output(1), scratch(0))]], scratchChunks: 1 }],
    });
    expect(interpretProgram(viaScratch, { inputs: [[1, 2, 3]], count: 3 })).toMatchObject({ outputs: [[1, 2, 3]] });
  });

  it("refuses a step that has nothing to move, and says which", () => {
    const program = createProgram({
      ...{ collective: "custom", protocol: "simple", chunksPerSegment: 1, inPlace: false, outOfPlace: true },
      ranks: [{ blocks: [[{ op: "copy", dst: { buffer: "scratch", chunk: 0 }, count: 1 }]], scratchChunks: 1 }],
    });
    expect(() => interpretProgram(program, { inputs: [[]], count: 4 })).toThrow(
      expect.objectContaining({ code: "BAD_PROGRAM", message: expect.stringContaining("A copy of rank 0 has nothing to move") }),
    );
  });

  it("refuses a program whose scratch buffer can't be that long", () => {
    const program = buildProgram({ collective: "reduce-scatter", algorithm: "ring", ranks: 2 });
    for (const scratchChunks of [-1, 0.5, Number.NaN, 2 ** 53]) {
      const edited = { ...program, ranks: program.ranks.map((rank, index) => (index === 1 ? { ...rank, scratchChunks } : rank)) };
      expect(() => interpretProgram(edited, { inputs: [Array(8).fill(1), Array(8).fill(2)], count: 4 })).toThrow(
        expect.objectContaining({ code: "BAD_PROGRAM", message: expect.stringContaining("ranks[1].scratchChunks is") }),
      );
    }
  });

  it("refuses inputs of the wrong length", () => {
    const program = buildProgram({ collective: "all-gather", algorithm: "ring", ranks: 2 });
    expect(() => interpretProgram(program, { inputs: [[1], [1, 2]], count: 2 })).toThrow(InvalidArgumentError);
    expect(() => interpretProgram(program, { inputs: [[1], [1]], count: -1 })).toThrow(InvalidArgumentError);
  });

  it("reads other ranks' memory in multiReduceCopy only once they have submitted", () => {
    const swap = createProgram({
      collective: "all-to-all",
      chunksPerSegment: 1,
      inPlace: false,
      outOfPlace: true,
      ranks: [0, 1].map((rank) => ({
        blocks: [[0, 1].map((from) => multiReduceCopy([on(rank, output(from))], [on(from, input(rank))]))],
      })),
    });
    const results = seeds.map((seed) =>
      interpretProgram(swap, {
        inputs: [
          [1, 2],
          [3, 4],
        ],
        count: 1,
        seed,
      }),
    );
    for (const result of results)
      expect(result).toMatchObject({
        ok: true,
        outputs: [
          [1, 3],
          [2, 4],
        ],
      });
  });
});
