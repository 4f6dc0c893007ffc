// Groups that each rank makes and drops when it likes.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Group, openWorld } from "../../src/index.js";
import { matchingOf } from "../../src/matching/local-group.js";
import { expectFault, thrownBy } from "../support/faults.js";
import { failureOf, rankOf, turns } from "../support/open.js";

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const shuffled = <T>(list: readonly T[], seed: number): T[] =>
  fc.sample(fc.shuffledSubarray([...list], { minLength: list.length }), { seed, numRuns: 1 })[0] ?? [];

describe("groups", () => {
  it("made, used and dropped by hundreds in different orders on each rank", async () => {
    const size = 8;
    using world = openWorld({ ranks: size });
    const lists = indices(300).map((i) => {
      const members = shuffled(indices(size), 1000 + i);
      return { name: i, ranks: members.slice(0, 1 + (i % size)) };
    });
    const memory: number[] = [];
    for (const round of [0, 1, 2, 3]) {
      await Promise.all(
        world.ranks.map(async (rank) => {
          const mine = lists.filter(({ ranks }) => ranks.includes(rank.number));
          // Equal ranks and names have an order; names tell all of these apart, so each rank has its own.
          const made = shuffled(mine, 10 * round + rank.number).map(({ ranks, name }) => ({
            group: rank.group(ranks, { name }),
            ranks,
            name,
          }));
          for (const some of chunks(shuffled(made, 77 * round + rank.number), 1000)) {
            await Promise.all(
              some.map(async ({ group, ranks, name }) => {
                const x = Int32Array.of(rank.number + 100 * name);
                await group.allReduce(x);
                expect(x[0]).toBe(ranks.reduce((sum, member) => sum + member, 0) + 100 * name * ranks.length);
                group.drop();
              }),
            );
          }
        }),
      );
      memory.push(world.arenaBytesInUse());
    }
    expect(memory[3]).toBeLessThanOrEqual(memory[1] ?? 0);
  });

  it("of the same ranks and name go together in the order in which each rank makes them", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const [a1, a2, named] = [a.group(), a.group(), a.group([0, 1], { name: 5n })];
    const b5 = b.group([0, 1], { name: 5 });
    const [b1, b2] = [b.group(), b.group()];
    const sums = async (one: Group, other: Group, first: number, second: number): Promise<number[]> => {
      const [x, y] = [Int32Array.of(first), Int32Array.of(second)];
      await Promise.all([one.allReduce(x), other.allReduce(y)]);
      return [...x, ...y];
    };
    const all = await Promise.all([sums(a2, b2, 1, 10), sums(named, b5, 2, 20), sums(a1, b1, 3, 30)]);
    expect(all).toEqual([
      [11, 11],
      [22, 22],
      [33, 33],
    ]);
    // Another order of the ranks is another group, and so are the rank's own methods.
    const [reversed, own] = [Int32Array.of(1), Int32Array.of(2)];
    const open = b.group([1, 0]).allReduce(reversed);
    await Promise.all([a.allReduce(Int32Array.of(4)), b.allReduce(own)]);
    expect(own[0]).toBe(6);
    expect(reversed[0]).toBe(1);
    await Promise.all([open, a.group([1, 0]).allReduce(Int32Array.of(7))]);
    expect(reversed[0]).toBe(8);
  });

  it("number their members in the order of the list, and a rank's methods take them as an option", async () => {
    using world = openWorld({ ranks: 3 });
    const ranks = [2, 0];
    const outputs = await Promise.all(
      ranks.map(async (number) => {
        const rank = rankOf(world, number);
        const group = rank.group(ranks);
        expect([group.rank, group.size, group.ranks]).toEqual([ranks.indexOf(number), 2, ranks]);
        const recv = new Int8Array(2);
        await rank.allGather(Int8Array.of(number), recv, { group });
        return [...recv];
      }),
    );
    expect(outputs).toEqual([ranks, ranks]);
  });

  it("split by colour, by ascending key, and among equal keys by place", async () => {
    using world = openWorld({ ranks: 6 });
    const parts = await Promise.all(
      world.ranks.map(async (rank) => {
        const whole = rank.group([5, 4, 3, 2, 1, 0]);
        // Twice, so that parts of one colour are told apart by the split that they come of.
        const [first, second] = await Promise.all([
          whole.split(rank.number === 3 ? -1 : rank.number % 2, rank.number < 2 ? 0 : -rank.number),
          whole.split(0),
        ]);
        const x = Int32Array.of(10 ** rank.number);
        const y = Int32Array.of(1);
        await Promise.all([second?.allReduce(y), first?.allReduce(x)]);
        return [first?.ranks, first?.rank, x[0], second?.ranks, y[0]];
      }),
    );
    const [even, odd, all] = [
      [4, 2, 0],
      [5, 1],
      [5, 4, 3, 2, 1, 0],
    ];
    expect(parts).toEqual([
      [even, 2, 10101, all, 6],
      [odd, 1, 100010, all, 6],
      [even, 1, 10101, all, 6],
      [undefined, undefined, 1000, all, 6],
      [even, 0, 10101, all, 6],
      [odd, 0, 100010, all, 6],
    ]);
  });

  it("a split's part leaves nothing behind", async () => {
    using world = openWorld({ ranks: 1 });
    const whole = rankOf(world, 0).group();
    const { made } = matchingOf(whole) as unknown as { readonly made: ReadonlyMap<string, bigint> };
    const before = made.size;
    for (const colour of indices(20)) (await whole.split(colour))?.drop();
    expect(made.size).toBe(before);
  });

  it("a split that is refused counts on no rank: the next one goes with the others' first", async () => {
    using world = openWorld({ ranks: 2, maxCollectives: 4, maxTasks: 8 });
    const [a, b] = [rankOf(world, 0).group(), rankOf(world, 1).group()];
    const tags = indices(4);
    const received = tags.map((tag) => a.recv(new Float32Array(1), 1, { tag }));
    for (const failure of [a.split(0), a.split(1)]) expectFault(await failureOf(failure), "OUT_OF_MEMORY");
    await Promise.all([...received, ...tags.map((tag) => b.send(new Float32Array(1), 0, { tag }))]);
    const [c, d] = await Promise.all([a.split(0), b.split(0)]);
    expect([c?.size, d?.size]).toEqual([2, 2]);
  });

  it("a split that some member doesn't come to in time is given up on those that have come", async () => {
    using world = openWorld({ ranks: 3 });
    const [a, b] = [rankOf(world, 0).group(), rankOf(world, 1).group()];
    const [late, other] = await Promise.all([failureOf(a.split(0, 0, { timeoutMs: 50 })), failureOf(b.split(0))]);
    expectFault(late, "TIMEOUT", { missing: [2] });
    expectFault(other, "ABORTED");
  });
});

describe("a dropped group", () => {
  it("refuses what comes later, and may be dropped twice", async () => {
    using world = openWorld({ ranks: 1 });
    const group = rankOf(world, 0).group();
    {
      using same = group;
      await same.allReduce(new Float32Array(2));
    }
    group.drop();
    for (const failure of [group.allReduce(new Float32Array(2)), group.send(new Float32Array(1), 0), group.split(0)]) {
      expectFault(await failureOf(failure), "CLOSED");
    }
  });

  it("isn't one while runs of it are in flight, messages to itself among them", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0).group(), rankOf(world, 1).group()];
    const x = Int32Array.of(1);
    const [half, run] = [a.recv(x, 0), a.allReduce(new Float32Array(2))];
    expectFault(
      thrownBy(() => a.drop()),
      "IN_USE",
      { rank: 0, inFlight: 2 },
    );
    await Promise.all([run, b.allReduce(new Float32Array(2))]);
    expectFault(
      thrownBy(() => a.drop()),
      "IN_USE",
      { inFlight: 1 },
    );
    await Promise.all([half, a.send(Int32Array.of(7), 0)]);
    a.drop();
    expect(x[0]).toBe(7);
  });
});

describe("an abort of a group", () => {
  it("ends what is in flight on all members that have come, and nothing of other groups", async () => {
    using world = openWorld({ ranks: 3 });
    const [a, b, c] = [rankOf(world, 0), rankOf(world, 1), rankOf(world, 2)];
    const [doomed, other, unused] = [a.group(), b.group(), c.group()];
    const kept = [a.allReduce(Int32Array.of(1)), b.allReduce(Int32Array.of(1))];
    const ended = [
      doomed.allReduce(new Float32Array(2)),
      doomed.recv(new Float32Array(1), 1),
      doomed.send(new Float32Array(1), 0),
      other.allReduce(new Float32Array(2)),
    ].map(failureOf);
    await turns(20);
    doomed.abort();
    for (const failure of await Promise.all(ended)) expectFault(failure, "ABORTED");
    expectFault(await failureOf(doomed.barrier()), "ABORTED");
    expectFault(await failureOf(other.allReduce(new Float32Array(2))), "ABORTED");
    await Promise.all([...kept, c.allReduce(Int32Array.of(1))]);
    for (const group of [doomed, other, unused]) group.drop();
    // Groups made anew are others.
    await Promise.all(world.ranks.map((rank) => rank.group().allReduce(new Float32Array(2))));
  });
});

it("a closed world ends what is in flight, messages to itself among them", async () => {
  const world = openWorld({ ranks: 2 });
  const rank = rankOf(world, 0);
  const group = rank.group();
  const failures = [rank.allReduce(new Float32Array(1)), group.recv(new Float32Array(1), 0)].map(failureOf);
  world.close();
  for (const failure of await Promise.all(failures)) expectFault(failure, "CLOSED");
  expectFault(await failureOf(rank.allReduce(new Float32Array(1))), "CLOSED");
  expectFault(
    thrownBy(() => rank.group()),
    "CLOSED",
  );
  group.drop();
});

function chunks<T>(list: readonly T[], length: number): T[][] {
  return indices(Math.ceil(list.length / length)).map((i) => list.slice(i * length, (i + 1) * length));
}
