import { describe, expect, it } from "vitest";
import { gpusOf, groupsOf } from "../../src/deadlock/config.js";
import { simulateTable } from "../../src/deadlock/simulate-table.js";
import { table1 } from "../../src/deadlock/table1.js";

describe("table1", () => {
  it("has every ratio of the paper, the text's included, and every count of its authors", () => {
    expect(table1.flatMap(({ paper }) => paper ?? [])).toHaveLength(18);
    expect(table1.flatMap(({ authors }) => authors ?? [])).toHaveLength(7);
    expect(table1.map(({ paper }) => paper)).toContain(0.0694);
  });

  it("draws free groups as the paper describes them: 28 small and four large, one to five groups a GPU, half the lists longer", () => {
    for (const row of table1.filter(({ isDrawn }) => isDrawn)) {
      const config = row.configuration("round-robin", 3, 1);
      if (config.grouping.policy !== "free") throw new RangeError(row.name);
      const { gpus, groups } = config.grouping;
      const more = gpus === 64 ? 0 : 2;
      expect(groups.filter((group) => group.gpus.length === 3 + more)).toHaveLength(28);
      expect(groups.filter((group) => group.gpus.length === 8 + more)).toHaveLength(4);
      const least = Math.min(...groups.map(({ collectives }) => collectives));
      expect(new Set(groups.map(({ collectives }) => collectives))).toEqual(new Set([least, 3 * least]));
      expect(groups.filter(({ collectives }) => collectives > least)).toHaveLength(16);
      const degrees = Array.from({ length: gpus }, (_, gpu) => groups.filter((group) => group.gpus.includes(gpu)).length);
      expect(Math.min(...degrees)).toBe(1);
      expect(Math.max(...degrees)).toBeLessThanOrEqual(5);
      expect(config).toEqual(row.configuration("round-robin", 3, 1));
      expect(config).not.toEqual(row.configuration("round-robin", 4, 1));
    }
  });

  it("has the paper's numbers of GPUs and groups", () => {
    const sizes = new Set(
      table1.map((row) => row.configuration("round-robin", 0, 1)).map((config) => `${gpusOf(config)}/${groupsOf(config)}`),
    );
    expect(sizes).toEqual(new Set(["64/32", "3072/896", "8/1", "128/32"]));
  });

  it("is simulated row by row; an interruption keeps what is finished, as partial", async () => {
    const controller = new AbortController();
    const rows = await simulateTable({
      rows: table1.slice(0, 3),
      rounds: 800,
      seed: 1,
      draws: 2,
      workers: 0,
      signal: controller.signal,
      onProgress: (share) => {
        if (share > 0.4) controller.abort();
      },
    });
    expect(rows.map(({ partial }) => partial)).toEqual([false, true]);
    expect(rows[1]?.cycle["round-robin"].rounds).toBeLessThan(800);
  });
});
