import { describe, expect, it } from "vitest";
import { Contraction } from "../../src/passes/contraction.js";
import { fuse } from "../../src/passes/fuse.js";
import { Seeded } from "../support/seeded.js";
import { instructionsOf, opsOf, program, relay } from "./support.js";

describe("fusing", () => {
  it("joins what comes in with what goes out: rcs, rrcs, and rrs where nobody needs the sum", () => {
    expect(opsOf(fuse(instructionsOf(relay())))).toEqual(["0 send", "1 recvCopySend", "2 recv"]);
    const kept = program(3, ({ chunk }) => chunk(1, "input").copy(1, "output", 0).reduce(chunk(0, "input")).copy(2, "output", 0));
    expect(opsOf(fuse(instructionsOf(kept)))).toEqual(["1 copy", "0 send", "1 recvReduceCopySend", "2 recv"]);
    const passedOn = program(3, ({ chunk }) => chunk(1, "input").copy(1, "scratch", 0).reduce(chunk(0, "input")).copy(2, "output", 0));
    expect(opsOf(fuse(instructionsOf(passedOn)))).toEqual(["1 copy", "0 send", "1 recvReduceSend", "2 recv"]);
  });

  it("takes the send with the longest way to go", () => {
    const definition = program(4, ({ chunk }) => {
      const c = chunk(0, "input").copy(1, "output", 0);
      c.copy(2, "output", 0);
      c.copy(3, "scratch", 0).copy(2, "scratch", 0);
    });
    const [joined] = fuse(instructionsOf(definition)).instructions.filter((one) => one?.op === "recvCopySend" && one.rank === 1);
    expect(joined?.operations).toEqual([0, 2]);
  });

  it("keeps apart what directives put on different channels, or what a third must run between", () => {
    expect(opsOf(fuse(instructionsOf(relay(0, 1))))).toEqual(["0 send", "1 recv", "1 send", "2 recv"]);
    expect(opsOf(fuse(instructionsOf(relay(1, 1))))).toEqual(["0 send", "1 recvCopySend", "2 recv"]);
    const contraction = new Contraction([[], [0], [0, 1]]);
    expect([contraction.merge(0, 2), contraction.merge(0, 1), contraction.merge(0, 2)]).toEqual([false, true, true]);
  });

  it("never makes a circle, in random graphs", () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = new Seeded(seed);
      const size = 12;
      const waits = Array.from({ length: size }, (_, node) =>
        Array.from({ length: node }, (__, other) => other).filter(() => random.chance(0.25)),
      );
      const contraction = new Contraction(waits);
      const group = Array.from({ length: size }, (_, node) => node);
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const second = random.below(size);
        const first = waits[second]?.[0];
        if (first === undefined || group[first] !== first || group[second] !== second) continue;
        const wouldBe = group.map((of) => (of === second ? first : of));
        const merged = contraction.merge(first, second);
        expect(merged, `seed ${seed}`).toBe(!hasCircle(waits, wouldBe));
        if (merged) group.splice(0, size, ...wouldBe);
      }
    }
  });
});

function hasCircle(waits: readonly (readonly number[])[], group: readonly number[]): boolean {
  const next = new Map<number, Set<number>>();
  waits.forEach((list, node) => {
    for (const other of list) {
      const [from, to] = [group[node] ?? node, group[other] ?? other];
      if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
    }
  });
  const reaches = (from: number, target: number, seen = new Set<number>()): boolean =>
    [...(next.get(from) ?? [])].some((to) => to === target || (!seen.has(to) && reaches(to, target, seen.add(to))));
  return [...next.keys()].some((node) => reaches(node, node));
}
