import { describe, expect, it } from "vitest";
import { input, multiReduceCopy, on, output } from "../src/builders/step-factory.js";
import {
  annotateFinish,
  createProgram,
  DataRaceError,
  interpretProgram,
  isExchange,
  type Program,
  type Step,
  verifyProgram,
} from "../src/index.js";

const everyRank = [0, 1, 2];

/** Every rank reduces chunk `chunk` of all inputs for itself. */
const reduceAll = (rank: number, chunk: number, order: readonly number[] = everyRank): Step =>
  multiReduceCopy(
    [on(rank, output(chunk))],
    order.map((from) => on(from, input(chunk))),
  );

function allReduce(blocksOf: (rank: number) => Step[][], protocol: "simple" | "ll" | "ll128" = "ll"): Program {
  const ofRanks = everyRank.map((rank) => ({ blocks: blocksOf(rank) }));
  const facts = { collective: "all-reduce", chunksPerSegment: 2, inPlace: true, outOfPlace: true, protocol } as const;
  return createProgram({ ...facts, ranks: ofRanks });
}

const exchange = allReduce((rank) => [[reduceAll(rank, 0)], [reduceAll(rank, 1)]]);

describe("an exchange", () => {
  it("is proven in place, where nobody reads what another overwrites, because it was sent before", () => {
    expect(isExchange(exchange)).toBe(true);
    expect(verifyProgram(annotateFinish(exchange)).connections).toBe(0);
  });

  it("computes the sum in place, whoever comes first", () => {
    const inputs = everyRank.map((rank) => [1, 2, 3, 4].map((value) => value * 10 ** rank));
    for (let seed = 0; seed < 50; seed += 1) {
      const result = interpretProgram(exchange, { inputs, count: 4, inPlace: [true, true, true], tileElements: 1, seed });
      expect(result.ok && result.outputs).toEqual(everyRank.map(() => [111, 222, 333, 444]));
    }
  });

  it.each([
    ["of another protocol", allReduce((rank) => [[reduceAll(rank, 0)], [reduceAll(rank, 1)]], "ll128")],
    ["with operands in another order", allReduce((rank) => [[reduceAll(rank, 0)], [reduceAll(rank, 1, [2, 1, 0])]])],
  ])("is none, and refused in place, %s", (_, other) => {
    expect(isExchange(other)).toBe(false);
    expect(() => verifyProgram(annotateFinish(other))).toThrow(DataRaceError);
  });

  it("is refused where two blocks make the same result", () => {
    const twice = allReduce((rank) => [[reduceAll(rank, 0)], [reduceAll(rank, 1)], [reduceAll(rank, 1)]]);
    expect(isExchange(twice)).toBe(true);
    expect(() => verifyProgram(twice)).toThrow(DataRaceError);
  });
});
