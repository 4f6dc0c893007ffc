import { describe, expect, it } from "vitest";
import { type HybridOptions, hybridPrograms, type RankAction } from "../../src/schedules/hybrid-programs.js";
import { gpt2, vitB16 } from "../../src/workloads/transformers.js";
import { elementsOf } from "../../src/workloads/workload.js";

const base: HybridOptions = { workload: vitB16(), dp: 2, tp: 2, pp: 2, microBatches: 4, activation: 100 };

function startsOf(actions: readonly RankAction[]): number[] {
  return actions.flatMap((action) => (action.kind === "start" ? [action.id] : action.kind === "hooks" ? action.ids : []));
}

describe("programs of transformers in several kinds of parallelism", () => {
  it.each([
    { dp: 4, tp: 1, pp: 1 },
    { dp: 1, tp: 4, pp: 1 },
    { dp: 2, tp: 2, pp: 1 },
    { dp: 2, tp: 2, pp: 2 },
    { dp: 1, tp: 1, pp: 4 },
  ])("start every collective equally often on each of its ranks, and on no other: %j", (degrees) => {
    const { collectives, actions } = hybridPrograms({ ...base, ...degrees });
    const counts = actions.map((own) => {
      const count = new Map<number, number>();
      for (const id of startsOf(own)) count.set(id, (count.get(id) ?? 0) + 1);
      return count;
    });
    for (const { id, ranks } of collectives) {
      const [times] = ranks.map((rank) => counts[rank]?.get(id));
      expect(times).toBeGreaterThan(0);
      counts.forEach((count, rank) => {
        expect(count.get(id)).toBe(ranks.includes(rank) ? times : undefined);
      });
    }
    for (const own of actions) {
      const computing = own.reduce((sum, action) => sum + (action.kind === "compute" ? action.share : 0), 0);
      expect(computing).toBeCloseTo(1, 9);
    }
  });

  it("reduce every parameter once among data-parallel ranks, at the end of the step", () => {
    for (const workload of [vitB16(), gpt2()]) {
      const { collectives, actions } = hybridPrograms({ ...base, workload, dp: 4, tp: 1, pp: 1 });
      expect(collectives.reduce((sum, { elements }) => sum + elements, 0)).toBe(elementsOf(workload));
      const [own = []] = actions;
      const firstHooks = own.findIndex(({ kind }) => kind === "hooks");
      expect(own.slice(0, firstHooks).filter(({ kind }) => kind === "compute").length).toBeGreaterThan(12 * 4 * 3);
    }
  });

  it("let stages take turns: one forward, one backward", () => {
    const { actions, collectives } = hybridPrograms({ ...base, dp: 1, tp: 1, pp: 2 });
    const names = startsOf(actions[0] ?? []).map((id) => (collectives[id]?.ranks[0] === 0 ? "F" : "B"));
    expect(names.join("")).toBe("FFBFBFBB");
  });
});
