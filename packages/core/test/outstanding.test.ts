// What is outstanding has no limit: ranks submit in any order as much as they like, whatever the slots hold.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openWorld, type Rank, type RegisteredCollective, type RunRequest } from "../src/index.js";
import { failureOf, rankOf, turns } from "./support/open.js";

const slots = { submissionSlots: 16, completionSlots: 16 };

function registerSums(rank: Rank, ids: number): RegisteredCollective[] {
  return Array.from({ length: ids }, (_, id) => rank.register({ id, collective: "all-reduce", dataType: "int32", count: 1 }));
}

/** The k-th run of an id, of which each rank gives the same number. */
const numberOf = (id: number, k: number): number => 1 + id * 1000 + k;

/** Runs of these ids in this order, one after the other, and where their results will lie. */
function requestsFor(collectives: readonly RegisteredCollective[], order: readonly number[]) {
  const runs = new Map<number, number>();
  const results: { readonly out: Int32Array; readonly value: number }[] = [];
  const requests = order.map((id): RunRequest => {
    const k = runs.get(id) ?? 0;
    runs.set(id, k + 1);
    const out = new Int32Array(1);
    results.push({ out, value: numberOf(id, k) });
    const collective = collectives[id];
    if (collective === undefined) throw new Error(`no collective ${id}`);
    return [collective, Int32Array.of(numberOf(id, k)), out];
  });
  const wrong = (ranks: number): number => results.filter(({ out, value }) => out[0] !== ranks * value).length;
  return { requests, wrong };
}

describe("with sixteen slots", () => {
  it.each([
    ["ids 0 … N against N … 0", 2, 500, Array.from({ length: 500 }, (_, id) => id)],
    ["ids 0 … N against N … 0 on eight ranks", 8, 200, Array.from({ length: 200 }, (_, id) => id)],
    ["5,000 runs of A, then of B, against B, then A", 2, 2, Array.from({ length: 10_000 }, (_, i) => (i < 5000 ? 0 : 1))],
  ])("%s completes", async (_name, ranks, ids, order) => {
    using world = openWorld({ ranks, ...slots, maxCollectives: Math.max(ids, 8) });
    const wrong = await Promise.all(
      world.ranks.map(async (rank, number) => {
        const { requests, wrong } = requestsFor(registerSums(rank, ids), number % 2 === 0 ? order : order.toReversed());
        await rank.submit(requests);
        return wrong(ranks);
      }),
    );
    expect(wrong).toEqual(Array(ranks).fill(0));
  });

  it("a run that a peer has begins although a batch before it waits", async () => {
    using world = openWorld({ ranks: 2, ...slots, maxCollectives: 8 });
    const [a, b] = [registerSums(rankOf(world, 0), 2), registerSums(rankOf(world, 1), 2)];
    const many = requestsFor(a, Array(100).fill(0));
    const first = rankOf(world, 0).submit(many.requests);
    await turns(20);
    await Promise.all([rankOf(world, 0).submit(requestsFor(a, [1]).requests), rankOf(world, 1).submit(requestsFor(b, [1]).requests)]);
    expect(first.pending).toBe(100);
    await Promise.all([first, rankOf(world, 1).submit(requestsFor(b, Array(100).fill(0)).requests)]);
    expect(many.wrong(2)).toBe(0);
  });

  it("an abort ends what waits", async () => {
    using world = openWorld({ ranks: 2, ...slots, maxCollectives: 8 });
    const collectives = world.ranks.map((rank) => registerSums(rank, 1));
    const statuses: string[] = [];
    const [own] = collectives;
    const batch = rankOf(world, 0).submit(requestsFor(own ?? [], Array(200).fill(0)).requests, {
      onComplete: ({ status }) => statuses.push(status),
    });
    own?.[0]?.abort();
    await failureOf(batch);
    expect(statuses).toEqual(Array(200).fill("aborted"));
    expect(rankOf(world, 0).pendingRuns).toBe(0);
  });

  it("random programs complete", async () => {
    const program = fc.record({
      ranks: fc.integer({ min: 1, max: 4 }),
      ids: fc.integer({ min: 1, max: 20 }),
      runs: fc.integer({ min: 1, max: 12 }),
      submissionSlots: fc.constantFrom(1, 2, 8, 32),
      batch: fc.integer({ min: 1, max: 80 }),
      pause: fc.integer({ min: 0, max: 2 }),
      seed: fc.integer(),
    });
    await fc.assert(
      fc.asyncProperty(program, async ({ ranks, ids, runs, submissionSlots, batch, pause, seed }) => {
        using world = openWorld({ ranks, submissionSlots, completionSlots: 8, maxCollectives: 32 });
        const wrong = await Promise.all(
          world.ranks.map(async (rank, number) => {
            const order = fc.sample(fc.shuffledSubarray(indices(ids * runs), { minLength: ids * runs }), {
              seed: seed + number,
              numRuns: 1,
            });
            const { requests, wrong } = requestsFor(
              registerSums(rank, ids),
              (order[0] ?? []).map((i) => i % ids),
            );
            const batches: PromiseLike<void>[] = [];
            for (let at = 0; at < requests.length; at += batch) {
              batches.push(rank.submit(requests.slice(at, at + batch)));
              await turns(pause);
            }
            await Promise.all(batches);
            return wrong(ranks);
          }),
        );
        expect(wrong).toEqual(Array(ranks).fill(0));
      }),
      { numRuns: 30 },
    );
  });
});

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

it("in order, what waits keeps the order of its submission", async () => {
  using world = openWorld({ ranks: 2, ...slots, maxCollectives: 64, policy: "in-order", streams: 1 });
  const orders = await Promise.all(
    world.ranks.map(async (rank) => {
      const done: number[] = [];
      const { requests } = requestsFor(registerSums(rank, 50), indices(50));
      await rank.submit(requests, { onComplete: ({ position }) => done.push(position) });
      return done;
    }),
  );
  expect(orders).toEqual([indices(50), indices(50)]);
});
