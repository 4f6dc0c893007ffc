import { SeededRandom } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { copySlices } from "../../src/boxing/slice-copies.js";
import {
  type Boxing,
  boxingCost,
  boxOf,
  broadcast,
  type CopyStep,
  chooseBoxing,
  formatSbp,
  interpretBoxing,
  type Layout,
  layout,
  type NdSbp,
  parseSbp,
  partial,
  placement,
  type Sbp,
  split,
  volumeOf,
} from "../../src/index.js";
import { collect, denseTensor, distribute } from "../support/dense.js";

const isLong = process.env.DFCCL_TEST_TIER === "long";

/** All signatures of so many dimensions over a tensor of so many axes. */
function signatures(dimensions: number, axes: number): NdSbp[] {
  const one: Sbp[] = [...Array.from({ length: axes }, (_, axis) => split(axis)), broadcast, partial];
  return Array.from({ length: dimensions }).reduce<NdSbp[]>((all) => all.flatMap((sbp) => one.map((next) => [...sbp, next])), [[]]);
}

function pairs(from: readonly Layout[], to: readonly Layout[]): (readonly [Layout, Layout])[] {
  return from.flatMap((a) => to.map((b) => [a, b] as const));
}

function check(from: Layout, to: Layout): { readonly boxing: Boxing; readonly movedBytes: number } {
  const dense = denseTensor(from.shape);
  const boxing = chooseBoxing(from, to);
  const { parts, movedBytes } = interpretBoxing(boxing, distribute(dense, from));
  const name = `${formatSbp(from.sbp)} on ${from.placement.ranks} → ${formatSbp(to.sbp)} on ${to.placement.ranks}, [${from.shape}]`;
  for (const result of collect(parts, to)) if (result.join() !== dense.join()) throw new Error(`${name} isn't the dense tensor`);
  return { boxing, movedBytes };
}

const bytesOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 4);
const isLocal = ({ steps }: Boxing): boolean => steps.every(({ kind, cost }) => kind === "copies" && cost === 1);

describe("boxing along one dimension", () => {
  const shapes = [[12], [7], [2], [8, 12], [5, 7], [3, 2], [4, 8, 12], [5, 3, 7], [2, 1, 5]];

  it.each([1, 2, 3, 4])("equals the dense reference for every pair, %i ranks, axes that divide or not; bytes are the formula's", (size) => {
    const place = placement(Array.from({ length: size }, (_, rank) => rank + 3));
    for (const shape of shapes) {
      const layouts = signatures(1, shape.length).map((sbp) => layout(shape, sbp, place));
      for (const [from, to] of pairs(layouts, layouts)) {
        const { boxing, movedBytes } = check(from, to);
        const formula = boxingCost(from.sbp[0] as Sbp, to.sbp[0] as Sbp, {
          bytes: bytesOf(shape),
          from: size,
          to: size,
          isSamePlacement: true,
        });
        const isSplitTwice = from.sbp[0]?.kind === "split" && to.sbp[0]?.kind === "split" && from.sbp[0].axis !== to.sbp[0].axis;
        // What stays is a mean of 1/n only where all parts have one size; else what a rank keeps is what its two parts share.
        const kept = from.placement.ranks.map((_rank, member) => sharedBytes(from, to, member)).reduce((sum, bytes) => sum + bytes, 0);
        const expected = isSplitTwice ? bytesOf(shape) - kept : formula === 1 || size === 1 ? 0 : formula;
        expect(movedBytes).toBe(expected);
        if (isSplitTwice && shape.every((extent) => extent % size === 0)) expect(movedBytes).toBe(formula);
        if (size > 1) expect(boxing.cost).toBe(isLocal(boxing) && boxing.steps.length > 0 ? 1 : movedBytes);
      }
    }
  });

  it("uses the table's collectives where slices are of one size", () => {
    const place = placement([0, 1, 2, 3]);
    const chosen = (from: string, to: string, shape: readonly number[]): string => {
      const sbp = (name: string): NdSbp => [name === "B" ? broadcast : name === "P" ? partial : split(Number(name[1]))];
      const [step] = chooseBoxing(layout(shape, sbp(from), place), layout(shape, sbp(to), place)).steps;
      if (step === undefined) return "identity";
      return step.kind === "copies"
        ? "copies"
        : [step.isPacked ? "pack" : "", step.collective, step.isUnpacked ? "unpack" : ""].join(" ").trim();
    };
    const table = ["P", "B", "S0", "S1"].map((from) => ["P", "B", "S0", "S1"].map((to) => chosen(from, to, [8, 4])));
    expect(table).toEqual([
      ["identity", "all-reduce", "reduce-scatter", "pack reduce-scatter"],
      ["copies", "identity", "copies", "copies"],
      ["copies", "all-gather", "identity", "pack all-to-all"],
      ["copies", "all-gather unpack", "all-to-all unpack", "identity"],
    ]);
    expect(chosen("P", "S0", [7, 4])).toBe("copies");
    expect(chosen("P", "B", [7, 3])).toBe("all-reduce");
  });
});

describe("boxing along two and three dimensions", () => {
  it.each([
    [
      [2, 2],
      [4, 4],
    ],
    [
      [2, 3],
      [6, 12],
    ],
    [
      [2, 2],
      [5, 7],
    ],
    [
      [3, 2],
      [3, 7],
    ],
    [[2, 2], [6]],
    [
      [1, 4],
      [8, 3],
    ],
  ])("equals the dense reference for every pair: hierarchy %j, shape %j", (hierarchy, shape) => {
    const place = placement(ranksFor(hierarchy), hierarchy);
    const layouts = signatures(2, shape.length).map((sbp) => layout(shape, sbp, place));
    for (const [from, to] of pairs(layouts, layouts)) checkCost(check(from, to));
  });

  // All pairs of three dimensions take minutes: the long tier's part. Here a share of them, another in each run.
  it.each(
    isLong
      ? [
          [5, 4],
          [8, 8],
          [5, 3, 4],
        ]
      : [
          [5, 4],
          [8, 8],
        ],
  )(
    "equals the dense reference: hierarchy 2 × 2 × 2, shape %j × %j",
    (...shape) => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const random = new SeededRandom(seed);
      const place = placement(ranksFor([2, 2, 2]), [2, 2, 2]);
      const layouts = signatures(3, shape.length).map((sbp) => layout(shape, sbp, place));
      const chosen = pairs(layouts, layouts).filter(() => isLong || random.below(24) === 0);
      expect(chosen.length, `seed ${seed}`).toBeGreaterThan(50);
      for (const [from, to] of chosen) checkCost(check(from, to));
    },
    1_200_000,
  );

  it("changes one dimension inside its groups where only that differs", () => {
    const place = placement([0, 1, 2, 3], [2, 2]);
    const { steps } = chooseBoxing(layout([8, 4], [split(0), partial], place), layout([8, 4], [split(0), broadcast], place));
    expect(steps).toMatchObject([
      {
        kind: "collective",
        collective: "all-reduce",
        dimension: 1,
        groups: [
          [0, 1],
          [2, 3],
        ],
      },
    ]);
  });

  it("takes dimensions together that change alike", () => {
    const place = placement([0, 1, 2, 3], [2, 2]);
    const { steps } = chooseBoxing(layout([8, 4], [partial, partial], place), layout([8, 4], [broadcast, broadcast], place));
    expect(steps).toMatchObject([{ kind: "collective", collective: "all-reduce", groups: [[0, 1, 2, 3]] }]);
  });
});

describe("controls", () => {
  const place = placement([0, 1]);
  const [from, to] = [layout([4, 6], parseSbp("S1"), place), layout([4, 6], parseSbp("B"), place)];
  const isDense = (boxing: Boxing): boolean => {
    const dense = denseTensor(from.shape);
    return collect(interpretBoxing(boxing, distribute(dense, from)).parts, to).every((result) => result.join() === dense.join());
  };

  it("the dense reference notices a step that doesn't unpack, and a copy that is left out", () => {
    const boxing = chooseBoxing(from, to);
    expect(isDense(boxing)).toBe(true);
    const steps = boxing.steps.map((step) => (step.kind === "collective" ? { ...step, isUnpacked: false } : step));
    expect(isDense({ ...boxing, steps })).toBe(false);
    const copied = copySlices(from, to, 4) as CopyStep;
    expect(isDense({ ...boxing, steps: [copied] })).toBe(true);
    expect(isDense({ ...boxing, steps: [{ ...copied, copies: copied.copies.slice(1) }] })).toBe(false);
  });
});

describe("boxing between placements", () => {
  it.each([
    [
      [0, 1],
      [2, 3],
    ],
    [
      [0, 1, 2],
      [3, 4],
    ],
    [[0], [1, 2, 3]],
    [[0, 1, 2], [7]],
  ])("moves what the formula says between %j and %j, uneven or not", (sources, targets) => {
    for (const shape of [
      [8, 12],
      [5, 7],
    ]) {
      const from = signatures(1, 2).map((sbp) => layout(shape, sbp, placement(sources)));
      const to = signatures(1, 2).map((sbp) => layout(shape, sbp, placement(targets)));
      for (const [a, b] of pairs(from, to)) {
        const facts = { bytes: bytesOf(shape), from: sources.length, to: targets.length, isSamePlacement: false };
        const [before, after] = [trueSbp(a), trueSbp(b)];
        expect(check(a, b).movedBytes).toBe(boxingCost(before, after, facts));
      }
    }
  });

  it.each([
    [
      [0, 1, 2],
      [2, 1],
    ],
    [
      [0, 1],
      [1, 0],
    ],
    [[0, 1, 2, 3], [2]],
    [[1], [0, 1, 2]],
  ])("moves no more than the formula says where %j and %j share ranks", (sources, targets) => {
    for (const shape of [
      [8, 12],
      [5, 7],
    ]) {
      const from = signatures(1, 2).map((sbp) => layout(shape, sbp, placement(sources)));
      const to = signatures(1, 2).map((sbp) => layout(shape, sbp, placement(targets)));
      for (const [a, b] of pairs(from, to)) {
        const facts = { bytes: bytesOf(shape), from: sources.length, to: targets.length, isSamePlacement: false };
        expect(check(a, b).movedBytes).toBeLessThanOrEqual(boxingCost(trueSbp(a), trueSbp(b), facts));
      }
    }
  });

  it("equals the dense reference between grids of other shapes", () => {
    const grids = [placement([0, 1, 2, 3], [2, 2]), placement([0, 1, 2, 3]), placement([2, 3, 4, 5, 6, 7], [3, 2])];
    const layouts = grids.flatMap((place) => signatures(place.hierarchy.length, 2).map((sbp) => layout([5, 6], sbp, place)));
    for (const [from, to] of pairs(layouts, layouts)) checkCost(check(from, to));
  });

  it("reduces to a root and broadcasts from one where that is among the ranks", () => {
    const all = placement([0, 1, 2]);
    const one = placement([1]);
    const reduce = chooseBoxing(layout([4], [partial], all), layout([4], [broadcast], one));
    expect(reduce.steps).toMatchObject([{ collective: "reduce", groups: [[1, 0, 2]] }]);
    const back = chooseBoxing(layout([4], [broadcast], one), layout([4], [broadcast], all));
    expect(back.steps).toMatchObject([{ collective: "broadcast", groups: [[1, 0, 2]] }]);
  });
});

/** On one rank a summand is all there is. */
function trueSbp({ sbp, placement: { ranks } }: Layout): Sbp {
  return ranks.length === 1 ? broadcast : (sbp[0] as Sbp);
}

function ranksFor(hierarchy: readonly number[]): number[] {
  return Array.from({ length: hierarchy.reduce((product, extent) => product * extent, 1) }, (_, rank) => rank);
}

/** The cost that was chosen by is what is moved, but for steps that move nothing and cost 1. */
function checkCost({ boxing, movedBytes }: { boxing: Boxing; movedBytes: number }): void {
  const local = boxing.steps.filter(({ kind, cost }) => kind === "copies" && cost === 1).length;
  expect(movedBytes).toBe(boxing.cost - local);
}

function sharedBytes(from: Layout, to: Layout, member: number): number {
  const [a, b] = [boxOf(from, member), boxOf(to, member)];
  const common = a.map((range, axis) => ({
    from: Math.max(range.from, b[axis]?.from ?? 0),
    to: Math.min(range.to, b[axis]?.to ?? 0),
  }));
  return 4 * volumeOf(common);
}
