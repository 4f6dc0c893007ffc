import { describe, expect, it } from "vitest";
import { openWorld } from "../src/index.js";
import { rankOf } from "./support/open.js";

describe("groups", () => {
  it("over overlapping subsets of ranks complete side by side, whatever order each rank submits them in", async () => {
    using world = openWorld({ ranks: 5 });
    const groups = [[0, 1], [1, 2, 3], [3, 4, 0], [4, 1], [2], [0, 1, 2, 3, 4]];
    const options = { collective: "all-reduce", dataType: "int32", count: 3 } as const;
    const members = groups.map((ranks, id) =>
      ranks.map((number) => ({
        rank: rankOf(world, number),
        collective: rankOf(world, number).register({ id, ...options, ranks }),
        buffer: new Int32Array(3),
      })),
    );
    for (let iteration = 0; iteration < 30; iteration += 1) {
      const all = members.flat();
      for (const { buffer, rank } of all) buffer.fill(10 ** rank.number);
      // Each rank begins with another of its groups.
      const batches = world.ranks.map((rank) => {
        const mine = all.filter((member) => member.rank === rank);
        const rotated = mine.map((_, i) => mine[(i * 2 + iteration * (rank.number + 1)) % mine.length] ?? mine[0]);
        const order = new Set([...rotated, ...mine]);
        return rank.submit([...order].flatMap((m) => (m ? [[m.collective, m.buffer, m.buffer] as const] : [])));
      });
      await Promise.all(batches);
      groups.forEach((ranks, id) => {
        const sum = ranks.reduce((total, number) => total + 10 ** number, 0);
        for (const { buffer } of members[id] ?? []) expect([...buffer]).toEqual([sum, sum, sum]);
      });
    }
  });

  it("number their members in the order of the list, not of the world", async () => {
    using world = openWorld({ ranks: 3 });
    const ranks = [2, 0, 1];
    const outputs = await Promise.all(
      ranks.map(async (number) => {
        const gather = rankOf(world, number).register({ id: 1, collective: "all-gather", dataType: "int8", count: 1, ranks });
        expect(gather.member).toBe(ranks.indexOf(number));
        const recv = new Int8Array(3);
        await gather.run(Int8Array.of(number), recv);
        return [...recv];
      }),
    );
    expect(outputs).toEqual([ranks, ranks, ranks]);
  });

  it("may be registered and used while others run, and unregistered again", async () => {
    using world = openWorld({ ranks: 2 });
    const steady = world.ranks.map((rank) => rank.register({ id: 0, collective: "all-reduce", dataType: "float32", count: 20_000 }));
    const buffers = world.ranks.map(() => new Float32Array(20_000));
    for (let id = 1; id <= 50; id += 1) {
      const inFlight = steady.map((collective, rank) => collective.run(buffers[rank], buffers[rank]));
      const fresh = world.ranks.map((rank) => rank.register({ id, collective: "all-reduce", dataType: "int32", count: id }));
      const cells = world.ranks.map(() => new Int32Array(id).fill(id));
      await Promise.all(fresh.map((collective, rank) => collective.run(cells[rank], cells[rank])));
      expect(cells.map((cell) => cell.every((value) => value === 2 * id))).toEqual([true, true]);
      for (const collective of fresh) collective.unregister();
      await Promise.all(inFlight);
    }
  });
});
