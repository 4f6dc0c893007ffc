import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Action, actionsOf, type OrderKind, type OrderOptions, orderKinds } from "../../src/disorder/submission-order.js";

const base: OrderOptions = { order: "random", tensors: 20, ranks: 4, sync: 0.1, seed: 7 };

function tensorsOf(actions: readonly Action[]): number[] {
  return actions.flatMap((action) => (action.kind === "submit" ? [action.tensor] : []));
}

function orderOf(order: OrderKind, rank: number, iteration = 0, seed = 7): number[] {
  return tensorsOf(actionsOf({ ...base, order, seed }, rank, iteration));
}

const backward = Array.from({ length: 20 }, (_, i) => 19 - i);
const forward = backward.toReversed();

describe("a rank's actions", () => {
  it("submit every tensor exactly once, whatever the options", () => {
    fc.assert(
      fc.property(
        fc.record({
          order: fc.constantFrom(...orderKinds),
          tensors: fc.integer({ min: 1, max: 200 }),
          ranks: fc.integer({ min: 1, max: 64 }),
          sync: fc.double({ min: 0, max: 1, noNaN: true }),
          seed: fc.nat(),
        }),
        fc.nat({ max: 63 }),
        fc.nat({ max: 1000 }),
        (options, rank, iteration) => {
          const tensors = tensorsOf(actionsOf(options, rank % options.ranks, iteration));
          expect(tensors.toSorted((a, b) => a - b)).toEqual(Array.from({ length: options.tensors }, (_, i) => i));
        },
      ),
    );
  });

  it("are the same for the same seed", () => {
    expect(actionsOf(base, 2, 5)).toEqual(actionsOf({ ...base }, 2, 5));
  });

  it("synchronize as often as asked", () => {
    const count = (sync: number): number => actionsOf({ ...base, tensors: 2000, sync }, 0, 0).length - 2000;
    expect(count(0)).toBe(0);
    expect(count(1)).toBe(2000);
    expect(count(0.1)).toBeGreaterThan(120);
    expect(count(0.1)).toBeLessThan(280);
  });
});

describe("order", () => {
  it("random differs between ranks, iterations and seeds", () => {
    const orders = [orderOf("random", 0), orderOf("random", 1), orderOf("random", 0, 1), orderOf("random", 0, 0, 8)];
    expect(new Set(orders.map(String)).size).toBe(4);
  });

  it("reverse is backward on even ranks and forward on odd ones", () => {
    expect([0, 1, 2, 3].map((rank) => orderOf("reverse", rank))).toEqual([backward, forward, backward, forward]);
  });

  it("skewed begins at another place on each rank", () => {
    expect([0, 1, 2, 3].map((rank) => orderOf("skewed", rank)[0])).toEqual([19, 14, 9, 4]);
    expect(orderOf("skewed", 1)).toEqual([...backward.slice(5), ...backward.slice(0, 5)]);
  });

  it("same is backward everywhere", () => {
    expect([0, 1, 2, 3].map((rank) => orderOf("same", rank))).toEqual([backward, backward, backward, backward]);
  });
});
