import { policyByName } from "@dfccl/scheduler";
import { describe, expect, it } from "vitest";
import { openWorld } from "../src/index.js";
import { engineOf, LocalWorld } from "../src/world.js";
import { rankOf } from "./support/open.js";

const sum = { collective: "all-reduce", dataType: "int32", count: 8 } as const;

describe("a world", () => {
  it("opens with any number of threads, again and again, used or not", async () => {
    for (let i = 0; i < 100; i += 1) {
      using world = openWorld({ ranks: 1 + (i % 4), workers: i % 6, blocks: 1 + (i % 3) });
      if (i % 2 === 0) continue;
      const buffers = world.ranks.map(() => new Int32Array(8).fill(1));
      await Promise.all(world.ranks.map((rank, r) => rank.register({ id: 1, ...sum }).run(buffers[r], buffers[r])));
      expect(buffers.map(([value]) => value)).toEqual(buffers.map(() => world.ranks.length));
    }
  });

  it("closes at the end of its block, also when awaited", async () => {
    let inner: ReturnType<typeof openWorld>;
    {
      await using world = openWorld({ ranks: 1 });
      inner = world;
      await rankOf(world, 0)
        .register({ id: 1, ...sum })
        .run(new Int32Array(8), new Int32Array(8));
    }
    expect(() => inner.arenaBytesInUse()).toThrow("has been closed");
  });

  it("runs under every named policy, and under one that is plain data", async () => {
    const named = ["default", "fixed", "decreasing", "adaptive", "priority", "in-order"] as const;
    using usual = openWorld({ ranks: 1 });
    for (const policy of [...named, policyByName("fixed", usual.policy, { stickiness: { initialThreshold: 4 } })]) {
      using world = openWorld({ ranks: 2, policy });
      const buffers = world.ranks.map(() => new Int32Array(8).fill(2));
      const runs = world.ranks.map((rank, r) => rank.register({ id: 1, ...sum }).run(buffers[r], buffers[r]));
      await Promise.all(runs);
      expect(buffers.map(([value]) => value)).toEqual([4, 4]);
      expect(world.policy.streams).toBe(policy === "in-order" ? 1 : 0);
    }
  });

  it("is apart from others of the same process", async () => {
    using one = openWorld({ ranks: 2 });
    using other = openWorld({ ranks: 2 });
    const results = await Promise.all(
      [one, other].flatMap((world, w) =>
        world.ranks.map(async (rank) => {
          const x = new Int32Array(8).fill(10 ** w);
          const order = rank.number === 0 ? [1, 2] : [2, 1];
          const collectives = order.map((id) => rank.register({ id, ...sum }));
          await rank.submit(collectives.map((collective) => [collective, x, collective.id === 1 ? x : new Int32Array(8)] as const));
          return x[0];
        }),
      ),
    );
    expect(results).toEqual([2, 2, 20, 20]);
  });

  it("counts what its ranks did", async () => {
    using world = openWorld({ ranks: 2, blocks: 2 });
    const buffers = world.ranks.map(() => new Int32Array(8));
    const collectives = world.ranks.map((rank) => rank.register({ id: 1, ...sum }));
    for (let i = 0; i < 5; i += 1) await Promise.all(collectives.map((collective, r) => collective.run(buffers[r], buffers[r])));
    for (const rank of world.ranks) {
      const { submissions, completions, launches, blocks } = rank.counters();
      expect([submissions, completions]).toEqual([5, 5]);
      expect(launches).toBeGreaterThan(0);
      expect(blocks).toHaveLength(2);
      expect(blocks.reduce((total, { tasksCompleted }) => total + tasksCompleted, 0)).toBeGreaterThanOrEqual(5);
    }
    // Whoever came last has moved it for all: per run, two inputs read and two outputs written.
    const moved = world.ranks.flatMap((rank) => rank.counters().blocks.map(({ bytesMoved }) => bytesMoved));
    expect(moved.reduce((total, bytes) => total + bytes, 0)).toBe(5 * 4 * 8 * Int32Array.BYTES_PER_ELEMENT);
  });

  it("closes its engine where its ranks can't be made", () => {
    using world = openWorld({ ranks: 1 });
    const engine = engineOf(world);
    const failure = new Error("no memory");
    const make = () => {
      throw failure;
    };
    expect(() => new LocalWorld(engine, world.policy, make)).toThrow(failure);
    expect(engine.isOpen).toBe(false);
  });
});
