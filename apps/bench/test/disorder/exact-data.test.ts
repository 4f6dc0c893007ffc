import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExactData } from "../../src/disorder/exact-data.js";

const ranks = 5;
const longest = 300;
const make = (seed = 1): ExactData => new ExactData(ranks, longest, seed, (elements) => new Float32Array(elements));
const data = make();

/** Adds inputs up one after the other, in float32, as some rank of some algorithm might. */
function addUp(inputs: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(inputs[0]?.length ?? 0);
  for (const input of inputs) for (const [i, value] of input.entries()) sum[i] = (sum[i] ?? 0) + value;
  return sum;
}

function inputs(tensor: number, iteration: number, elements: number): Float32Array[] {
  return Array.from({ length: ranks }, (_, rank) => data.input(rank, tensor, iteration, elements));
}

const result = (tensor: number, iteration: number, elements: number): Float32Array => addUp(inputs(tensor, iteration, elements));

describe("exact data", () => {
  it("gives the same bits in any order of addition", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }), fc.nat(160), fc.nat(1000), (order, tensor, iteration) => {
        const of = inputs(tensor, iteration, longest);
        const sum = addUp(order.map((rank) => of[rank] ?? new Float32Array(0)));
        expect(data.wrongElements(sum, tensor, iteration)).toBe(0);
      }),
    );
  });

  it("stays exact for as many ranks as the command allows", () => {
    expect(256 * 0xffff).toBeLessThan(2 ** 24);
  });

  it("is the same for the same seed, and other data for another", () => {
    expect(make(3).input(2, 1, 0, 50)).toEqual(make(3).input(2, 1, 0, 50));
    expect(make(3).input(2, 1, 0, 50)).not.toEqual(make(4).input(2, 1, 0, 50));
  });
});

// Each of these is something that a broken engine could do; the comparison has to notice it.
describe("the comparison", () => {
  it("counts a flipped bit, whichever it is", () => {
    for (let bit = 0; bit < 32; bit += 1) {
      const output = result(3, 2, longest);
      const bits = new Uint32Array(output.buffer);
      bits[17] = (bits[17] ?? 0) ^ (1 << bit);
      expect(data.wrongElements(output, 3, 2)).toBe(1);
    }
  });

  it("tells +0 from −0", () => {
    // Of 65,536 values drawn at random, some are 0.
    const alone = new ExactData(1, 2 ** 18, 1, (elements) => new Float32Array(elements));
    const output = alone.input(0, 0, 0, 2 ** 18).slice();
    const zero = output.indexOf(0);
    expect(zero).toBeGreaterThanOrEqual(0);
    output[zero] = -0;
    expect(alone.wrongElements(output, 0, 0)).toBe(1);
  });

  it.each([
    ["a rank that was left out", (): Float32Array => addUp(inputs(3, 2, longest).slice(1))],
    ["a rank that was added twice", (): Float32Array => addUp([...inputs(3, 2, longest), data.input(1, 3, 2, longest)])],
    ["another tensor's result", (): Float32Array => result(4, 2, longest)],
    ["the result of the iteration before", (): Float32Array => result(3, 1, longest)],
    ["a result that nobody wrote", (): Float32Array => new Float32Array(longest)],
    ["a rank's own input", (): Float32Array => data.input(0, 3, 2, longest).slice()],
  ])("notices %s", (_, make) => {
    expect(data.wrongElements(result(3, 2, longest), 3, 2)).toBe(0);
    expect(data.wrongElements(make(), 3, 2)).toBeGreaterThan(longest / 2);
  });

  it("notices one slice that comes from a neighbour", () => {
    const output = result(3, 2, longest);
    output.copyWithin(100, 116, 132);
    expect(data.wrongElements(output, 3, 2)).toBeGreaterThan(0);
  });

  it("notices that two tensors were exchanged, for every pair of ResNet-50's 161", () => {
    const results = Array.from({ length: 161 }, (_, tensor) => result(tensor, 0, 16));
    for (let tensor = 0; tensor < 161; tensor += 1) {
      const mistaken = results.filter((output, other) => other !== tensor && data.wrongElements(output, tensor, 0) === 0);
      expect(mistaken).toEqual([]);
    }
  });
});
