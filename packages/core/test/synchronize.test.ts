import { describe, expect, it } from "vitest";
import { openWorld, type Rank, type RegisteredCollective } from "../src/index.js";
import { rankOf, turns } from "./support/open.js";

const options = { collective: "all-reduce", dataType: "int32", count: 64 } as const;

interface Member {
  readonly rank: Rank;
  readonly collectives: readonly RegisteredCollective[];
  readonly buffers: readonly Int32Array[];
}

/** Submits collectives in an order of this rank's own, with a synchronization before the submission number `position`. */
async function submitAll(
  { rank, collectives, buffers }: Member,
  order: readonly number[],
  position: number,
  synchronize: (rank: Rank) => Promise<void>,
): Promise<void> {
  const batches: PromiseLike<void>[] = [];
  for (let i = 0; i <= order.length; i += 1) {
    if (i === position) await synchronize(rank);
    const id = order[i];
    const [collective, buffer] = id === undefined ? [] : [collectives[id], buffers[id]];
    if (collective && buffer) batches.push(rank.submit([[collective, buffer, buffer]]));
  }
  await Promise.all(batches);
}

describe("device synchronization", () => {
  const waysToSynchronize = {
    "that resolves": (rank: Rank): Promise<void> => rank.synchronize(),
    "that blocks this thread": async (rank: Rank): Promise<void> => {
      expect(rank.synchronizeBlocking()).toBe(true);
    },
  } as const;

  it.each(Object.entries(waysToSynchronize))("%s ends in every position of every order", async (_, synchronize) => {
    using world = openWorld({ ranks: 2 });
    const members = world.ranks.map((rank) => ({
      rank,
      collectives: [0, 1, 2].map((id) => rank.register({ id, ...options })),
      buffers: [0, 1, 2].map(() => new Int32Array(options.count)),
    }));
    for (const orders of [
      [
        [0, 1, 2],
        [2, 1, 0],
      ],
      [
        [0, 1, 2],
        [1, 2, 0],
      ],
    ]) {
      for (let first = 0; first <= 3; first += 1) {
        for (let second = 0; second <= 3; second += 1) {
          for (const { buffers } of members) for (const buffer of buffers) buffer.fill(1);
          await Promise.all(members.map((member, i) => submitAll(member, orders[i] ?? [], i === 0 ? first : second, synchronize)));
          for (const { buffers } of members) for (const buffer of buffers) expect(buffer.every((value) => value === 2)).toBe(true);
        }
      }
    }
  });

  it("returns at once where nothing runs, and waits for nothing that is submitted later", async () => {
    using world = openWorld({ ranks: 2 });
    const rank = rankOf(world, 0);
    await rank.synchronize();
    expect(rank.synchronizeBlocking()).toBe(true);
    const collective = rank.register({ id: 1, ...options });
    const batch = rank.submit([[collective, new Int32Array(64), new Int32Array(64)]]);
    await turns(20);
    await rank.synchronize();
    expect(batch.pending).toBe(1);
  });

  it("makes the daemon leave, which counts it", async () => {
    using world = openWorld({ ranks: 2 });
    const rank = rankOf(world, 0);
    const collective = rank.register({ id: 1, ...options });
    rank.submit([[collective, new Int32Array(64), new Int32Array(64)]]);
    await turns(20);
    await rank.synchronize();
    const { launches, quits, submissions, completions, blocks } = rank.counters();
    expect(quits).toBeGreaterThan(0);
    expect(launches).toBeGreaterThan(0);
    expect([submissions, completions]).toEqual([1, 0]);
    expect(blocks).toHaveLength(1);
    expect(blocks[0]?.tasksTaken).toBe(1);
    expect(blocks[0]?.stuckVisits).toBeGreaterThan(0);
    expect(blocks[0]?.maxQueueLength).toBe(1);
  });
});
