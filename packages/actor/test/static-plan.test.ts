import { describe, expect, it } from "vitest";
import { mergeGroups, type SortedTask, staticPlan } from "../src/index.js";

const reduce = (id: number, inputs: readonly number[], bytes = 8, kind = "all-reduce 0,1"): SortedTask => ({
  id,
  inputs,
  collective: { bytes, kind },
});

describe("static sorting", () => {
  it("peels the graph in waves and counts collectives on the way", () => {
    // 0 → 1 → 2*, 0 → 3*, 3* → 4 → 5*; a star marks a collective.
    const plan = staticPlan([
      { id: 0, inputs: [] },
      { id: 1, inputs: [0] },
      reduce(2, [1]),
      reduce(3, [0]),
      { id: 4, inputs: [3] },
      reduce(5, [4, 2]),
    ]);
    expect(plan.order.map(({ id, wave, depth }) => [id, wave, depth])).toEqual([
      [3, 1, 0],
      [2, 2, 0],
      [5, 3, 1],
    ]);
    expect(plan.groups.map((group) => group.map(({ id }) => id))).toEqual([[3, 2], [5]]);
  });

  it("keeps every collective behind those that it depends on", () => {
    const tasks = Array.from({ length: 40 }, (_, id) => reduce(id, id < 3 ? [] : [(id * 7) % id, (id * 5) % id]));
    const { order } = staticPlan(tasks);
    const place = new Map(order.map(({ id }, index) => [id, index]));
    for (const { id, inputs } of tasks) for (const input of inputs) expect(place.get(input)).toBeLessThan(place.get(id) ?? -1);
  });

  it("merges neighbours of one kind, up to 64 and up to 16 MiB", () => {
    const small = Array.from({ length: 100 }, (_, id) => reduce(id, []));
    expect(staticPlan(small).groups.map(({ length }) => length)).toEqual([64, 36]);
    const large = Array.from({ length: 5 }, (_, id) => reduce(id, [], 6 * 2 ** 20));
    expect(staticPlan(large).groups.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(staticPlan([reduce(0, [], 2 ** 30), reduce(1, [])]).groups.map(({ length }) => length)).toEqual([1, 1]);
    expect(staticPlan([reduce(0, []), reduce(1, [], 8, "all-gather 0,1"), reduce(2, [])]).groups).toHaveLength(3);
  });

  it("names the circle of a graph that has one", () => {
    expect(() => staticPlan([reduce(0, [1]), reduce(1, [0])])).toThrow(
      expect.objectContaining({ code: "CYCLIC_GRAPH", facts: { cycle: [0, 1] } }),
    );
  });

  it("refuses limits that no group could keep", () => {
    expect(() => mergeGroups([], { maxGroupSize: 0 })).toThrow("maxGroupSize");
    expect(() => mergeGroups([], { maxGroupBytes: Number.NaN })).toThrow("maxGroupBytes");
  });
});
