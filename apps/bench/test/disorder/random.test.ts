import fc from "fast-check";
import { expect, it } from "vitest";
import { Random } from "../../src/disorder/random.js";

it("repeats a sequence for the same seeds, in their order", () => {
  const draw = (...seeds: number[]): number[] => {
    const random = new Random(...seeds);
    return [random.next32(), random.next32(), random.next32()];
  };
  expect(draw(1, 2)).toEqual(draw(1, 2));
  expect(draw(1, 2)).not.toEqual(draw(2, 1));
});

it("shuffles into permutations", () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.nat()), (seed, list) => {
      const shuffled = new Random(seed).shuffle([...list]);
      expect(shuffled.toSorted((a, b) => a - b)).toEqual(list.toSorted((a, b) => a - b));
    }),
  );
});

it("shuffles three into each of their six orders about equally often", () => {
  const counts = new Map<string, number>();
  for (let seed = 0; seed < 6000; seed += 1) {
    const order = new Random(seed).shuffle([0, 1, 2]).join("");
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  expect([...counts.values()].sort((a, b) => a - b)[0]).toBeGreaterThan(850);
  expect(counts.size).toBe(6);
});

it("draws numbers below the limit, all of them", () => {
  const random = new Random(1);
  expect(new Set(Array.from({ length: 500 }, () => random.below(7)))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]));
});
