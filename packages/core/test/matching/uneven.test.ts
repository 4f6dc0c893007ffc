// Collectives whose members have different counts, zeros among them.
import fc from "fast-check";
import { expect, it } from "vitest";
import { openWorld, type Rank } from "../../src/index.js";

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
/** What rank `from` has for `to` at place `i`. */
const elementOf = (from: number, to: number, i: number): number => from * 10_000 + to * 1000 + i;

const sample = fc.record({
  ranks: fc.integer({ min: 1, max: 8 }),
  table: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 })), { minLength: 64, maxLength: 64 }),
  gaps: fc.array(fc.nat(3), { minLength: 8, maxLength: 8 }),
  hasGaps: fc.boolean(),
  root: fc.nat(7),
});

/** Displacements with gaps between the segments, in an order of their own. */
function displacementsOf(counts: readonly number[], gaps: readonly number[]): { at: number[]; length: number } {
  let length = 0;
  const at = counts.map(() => 0);
  for (const member of indices(counts.length).reverse()) {
    length += gaps[member] ?? 0;
    at[member] = length;
    length += counts[member] ?? 0;
  }
  return { at, length };
}

it("all-to-all-v, each rank knowing its own counts alone", async () => {
  await fc.assert(
    fc.asyncProperty(sample, async ({ ranks, table, gaps, hasGaps }) => {
      using world = openWorld({ ranks });
      const countOf = (from: number, to: number): number => table[from * 8 + to] ?? 0;
      await Promise.all(
        world.ranks.map(async (rank, own) => {
          const [sendCounts, recvCounts] = [indices(ranks).map((to) => countOf(own, to)), indices(ranks).map((from) => countOf(from, own))];
          const out = displacementsOf(sendCounts, gaps);
          const back = displacementsOf(recvCounts, gaps);
          const send = new Int32Array(hasGaps ? out.length : total(sendCounts));
          const recv = new Int32Array(hasGaps ? back.length : total(recvCounts)).fill(-1);
          const expected = Int32Array.from(recv);
          let [sent, received] = [0, 0];
          for (const other of indices(ranks)) {
            const [to, from] = hasGaps ? [out.at[other] ?? 0, back.at[other] ?? 0] : [sent, received];
            for (const i of indices(sendCounts[other] ?? 0)) send[to + i] = elementOf(own, other, i);
            for (const i of indices(recvCounts[other] ?? 0)) expected[from + i] = elementOf(other, own, i);
            sent += sendCounts[other] ?? 0;
            received += recvCounts[other] ?? 0;
          }
          const options = hasGaps ? { sendDisplacements: out.at, recvDisplacements: back.at } : {};
          await rank.allToAllV(send, Uint32Array.from(sendCounts), recv, recvCounts, options);
          expect(recv).toEqual(expected);
        }),
      );
    }),
    { numRuns: 60 },
  );
});

it("all-gather-v, reduce-scatter-v, gather-v and scatter-v", async () => {
  await fc.assert(
    fc.asyncProperty(sample, async ({ ranks, table, gaps, hasGaps, root: anyRoot }) => {
      using world = openWorld({ ranks });
      const root = anyRoot % ranks;
      const counts = table.slice(0, ranks);
      const packed = displacementsOf(
        counts,
        counts.map(() => 0),
      );
      const spread = hasGaps
        ? displacementsOf(counts, gaps)
        : { at: counts.map((_, member) => total(counts.slice(0, member))), length: total(counts) };
      const displacements = hasGaps ? { displacements: spread.at } : {};
      const gathered = new Int32Array(spread.length).fill(-1);
      for (const member of indices(ranks)) {
        for (const i of indices(counts[member] ?? 0)) gathered[(spread.at[member] ?? 0) + i] = elementOf(member, 0, i);
      }
      await Promise.all(
        world.ranks.map(async (rank, own) => {
          const count = counts[own] ?? 0;
          const mine = Int32Array.from({ length: count }, (_, i) => elementOf(own, 0, i));
          const [all, atRoot, part, scattered] = [
            new Int32Array(spread.length).fill(-1),
            new Int32Array(spread.length).fill(-1),
            new Int32Array(count),
            new Int32Array(count),
          ];
          const whole = Int32Array.from({ length: packed.length }, (_, i) => i * (own + 1));
          await Promise.all([
            rank.scatterV(own === root ? gathered : null, scattered, counts, { ...displacements, root }),
            rank.reduceScatterV(whole, part, counts),
            rank.gatherV(mine, own === root ? atRoot : undefined, counts, { ...displacements, root }),
            rank.allGatherV(mine, all, counts, displacements),
          ]);
          expect(all).toEqual(gathered);
          if (own === root) expect(atRoot).toEqual(gathered);
          expect(scattered).toEqual(mine);
          const begin = total(counts.slice(0, own));
          expect(part).toEqual(Int32Array.from({ length: count }, (_, i) => ((begin + i) * ranks * (ranks + 1)) / 2));
        }),
      );
    }),
    { numRuns: 60 },
  );
});

it("all-gather-v and reduce-scatter-v in place", async () => {
  using world = openWorld({ ranks: 3 });
  const counts = [2, 0, 3];
  const results = await Promise.all(
    world.ranks.map(async (rank, own) => {
      const begin = total(counts.slice(0, own));
      const end = begin + (counts[own] ?? 0);
      const [all, sum] = [new Int32Array(5), new Int32Array(5).fill(own + 1)];
      all.fill(own + 1, begin, end);
      await Promise.all([
        rank.allGatherV(all.subarray(begin, end), all, counts),
        rank.reduceScatterV(sum, sum.subarray(begin, end), counts),
      ]);
      return [...all, ...sum.subarray(begin, end)];
    }),
  );
  expect(results).toEqual([
    [1, 1, 3, 3, 3, 6, 6],
    [1, 1, 3, 3, 3],
    [1, 1, 3, 3, 3, 6, 6, 6],
  ]);
});

// Rank 0's segment has the same count in both.
it("two lists that share a count, in opposite orders, get no segment of each other's", async () => {
  using world = openWorld({ ranks: 2 });
  const lists = [
    [3, 5],
    [3, 7],
  ];
  const filled = (list: number, rank: Rank): Int32Array => new Int32Array(10).fill(10 * list + rank.number);
  const kinds: readonly ((rank: Rank, send: Int32Array, recv: Int32Array, counts: readonly number[]) => Promise<void>)[] = [
    (rank, send, recv, counts) => rank.allGatherV(send, recv, counts),
    (rank, send, recv, counts) => rank.reduceScatterV(send, recv, counts),
    (rank, send, recv, counts) => rank.gatherV(send, recv, counts, { root: 1 }),
    (rank, send, recv, counts) => rank.scatterV(send, recv, counts, { root: 1 }),
  ];
  const firsts: unknown[] = [];
  for (const run of kinds) {
    const ofRanks = world.ranks.map((rank) => {
      const received = lists.map(() => new Int32Array(10).fill(-1));
      const orders = rank.number === 0 ? [0, 1] : [1, 0];
      const over = orders.map((list) => run(rank, filled(list, rank), received[list] as Int32Array, lists[list] ?? []));
      return Promise.all(over).then(() => received.map((x) => x[0]));
    });
    firsts.push(await Promise.all(ofRanks));
  }
  expect(firsts).toEqual([
    [
      [0, 10],
      [0, 10],
    ],
    [
      [1, 21],
      [1, 21],
    ],
    [
      [-1, -1],
      [0, 10],
    ],
    [
      [1, 11],
      [1, 11],
    ],
  ]);
});
