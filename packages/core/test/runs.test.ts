import { describe, expect, it } from "vitest";
import { openWorld } from "../src/index.js";
import { rankOf, turns } from "./support/open.js";

const sum = { collective: "all-reduce", dataType: "float32", count: 4 } as const;

describe("a run", () => {
  it("resolves with the result in the receive buffer", async () => {
    using world = openWorld({ ranks: 2 });
    const outputs = await Promise.all(
      world.ranks.map(async (rank) => {
        const recv = rank.allocate("float32", 4);
        await rank.register({ id: 1, ...sum }).run(Float32Array.of(1, 2, 3, rank.number), recv);
        return [...recv];
      }),
    );
    expect(outputs).toEqual([
      [2, 4, 6, 1],
      [2, 4, 6, 1],
    ]);
  });

  it("works in place when the same buffer is given twice", async () => {
    using world = openWorld({ ranks: 3 });
    const buffers = await Promise.all(
      world.ranks.map(async (rank) => {
        const x = Float32Array.of(1, 2, 3, 4);
        await rank.register({ id: 1, ...sum }).run(x, x);
        return [...x];
      }),
    );
    expect(buffers).toEqual(Array(3).fill([3, 6, 9, 12]));
  });

  it("executes after the earlier runs of the same collective", async () => {
    using world = openWorld({ ranks: 2 });
    const runs = world.ranks.map((rank) => {
      const x = new Float32Array(4).fill(1);
      const collective = rank.register({ id: 1, ...sum });
      const batch = rank.submit(Array.from({ length: 20 }, () => [collective, x, x] as const));
      return { batch, x };
    });
    await Promise.all(runs.map(({ batch }) => batch));
    expect(runs.map(({ x }) => x[0])).toEqual([2 ** 20, 2 ** 20]);
  });

  it("is held until every rank has registered the collective and submitted its part", async () => {
    using world = openWorld({ ranks: 2 });
    const x = new Float32Array(4).fill(1);
    const y = new Float32Array(4).fill(2);
    const first = rankOf(world, 0)
      .register({ id: 1, ...sum })
      .run(x, x);
    let isOver = false;
    void first.then(() => {
      isOver = true;
    });
    await turns(50);
    expect(isOver).toBe(false);
    await rankOf(world, 1)
      .register({ id: 1, ...sum })
      .run(y, y);
    await first;
    expect([...x, ...y]).toEqual(Array(8).fill(3));
  });

  it("takes views into the middle of a buffer, shared memory and buffers longer than needed", async () => {
    using world = openWorld({ ranks: 1 });
    const collective = rankOf(world, 0).register({ id: 1, ...sum });
    const send = new Float32Array(new SharedArrayBuffer(64), 8, 10).fill(7);
    const whole = new Float32Array(12);
    await collective.run(send, whole.subarray(3, 9));
    expect([...whole]).toEqual([0, 0, 0, 7, 7, 7, 7, 0, 0, 0, 0, 0]);
  });

  it("computes the same in any order of ids on any rank, again and again", async () => {
    using world = openWorld({ ranks: 4, blocks: 2 });
    const ids = Array.from({ length: 24 }, (_, id) => id);
    const members = world.ranks.map((rank) => ({
      rank,
      collectives: ids.map((id) => rank.register({ id, ...sum, count: 1 + id * 37 })),
      buffers: ids.map((id) => new Float32Array(1 + id * 37)),
    }));
    for (let iteration = 0; iteration < 10; iteration += 1) {
      for (const { buffers } of members) for (const buffer of buffers) buffer.fill(1);
      const batches = members.map(({ rank, collectives, buffers }) => {
        // A permutation of each rank's own: 24 and 5, 7, 11 and 13 have no common divisor.
        const order = ids.map((id) => (id * ([5, 7, 11, 13][rank.number] ?? 1) + iteration) % ids.length);
        return rank.submit(order.flatMap((id) => (collectives[id] ? [[collectives[id], buffers[id], buffers[id]] as const] : [])));
      });
      await Promise.all(batches);
      for (const { buffers } of members) for (const buffer of buffers) expect(buffer.every((value) => value === 4)).toBe(true);
    }
  });
});

describe("the timeout of a blocking synchronization", () => {
  it("returns false when the daemon is still there and true once it has left", async () => {
    // Its stay ends when its queue is empty and never before, so a stuck run keeps it.
    using world = openWorld({ ranks: 2, policy: "in-order" });
    const [first, second] = world.ranks.map((rank) => rank.register({ id: 1, ...sum }));
    const x = new Float32Array(4);
    const y = new Float32Array(4);
    const one = first?.run(x, x);
    await turns(50);
    expect(rankOf(world, 0).synchronizeBlocking(1)).toBe(false);
    await Promise.all([one, second?.run(y, y)]);
    expect(rankOf(world, 0).synchronizeBlocking()).toBe(true);
  });
});
