import { describe, expect, it, vi } from "vitest";
import { type Batch, openWorld, type Rank } from "../../src/index.js";
import { engineOfRank } from "../../src/rank.js";
import { base, expectFault, thrownBy } from "../support/faults.js";
import { failureOf, rankOf } from "../support/open.js";

describe("what was closed", () => {
  const four = (): Float32Array => new Float32Array(4);

  it("can't be used after unregister(), which is fine twice", async () => {
    using world = openWorld({ ranks: 1 });
    const rank = rankOf(world, 0);
    const collective = rank.register(base);
    await collective.run(four(), four());
    collective.unregister();
    collective.unregister();
    const facts = { what: "all-reduce 7 on rank 0" };
    expectFault(await failureOf(collective.run(four(), four())), "CLOSED", facts);
    expectFault(
      thrownBy(() => rank.submit([[collective, four(), four()]])),
      "CLOSED",
      facts,
    );
    expectFault(
      thrownBy(() => collective.abort()),
      "CLOSED",
      facts,
    );
    expectFault(
      thrownBy(() => collective.explain()),
      "CLOSED",
      facts,
    );
    expectFault(
      thrownBy(() => collective.memoryBytes()),
      "CLOSED",
      facts,
    );
    expectFault(await failureOf(collective.quarantine()), "CLOSED", facts);
  });

  it("can't be used after the world's close(), which is fine twice", async () => {
    const world = openWorld({ ranks: 1 });
    const rank = rankOf(world, 0);
    const collective = rank.register(base);
    world.close();
    world.close();
    world[Symbol.dispose]();
    const uses: readonly ((rank: Rank) => unknown)[] = [
      () => rank.register(base),
      () => rank.submit([[collective, four(), four()]]),
      () => rank.allocate("int8", 1),
      () => rank.counters(),
      () => rank.synchronizeBlocking(),
      () => collective.abort(),
      () => collective.explain(),
      () => world.deadlock(),
      () => world.arenaBytesInUse(),
    ];
    for (const use of uses) {
      expectFault(
        thrownBy(() => use(rank)),
        "CLOSED",
        { what: "The world" },
      );
    }
    expectFault(await failureOf(collective.run(four(), four())), "CLOSED");
    expectFault(await failureOf(rank.synchronize()), "CLOSED");
    collective.unregister();
  });

  it("fails what was in flight, and what waited for room", async () => {
    const world = openWorld({ ranks: 2, submissionSlots: 4, completionSlots: 8 });
    const rank = rankOf(world, 0);
    const collective = rank.register(base);
    const batch = rank.submit(Array.from({ length: 20 }, () => [collective, four(), four()] as const));
    const promise = collective.run(four(), four());
    world.close();
    expectFault(await failureOf(batch), "CLOSED");
    expectFault(await failureOf(promise), "CLOSED");
    expect(batch.pending).toBe(0);
    expect(rank.pendingRuns).toBe(0);
  });

  it("may be closed by a callback, after which no other is called for what was in flight", async () => {
    const world = openWorld({ ranks: 2, workers: 0 });
    const [lone, pair] = [rankOf(world, 0).register({ ...base, ranks: [0] }), rankOf(world, 0).register({ ...base, id: 8 })];
    let calls = 0;
    const inFlight = rankOf(world, 0).submit([[pair, four(), four()]], { onComplete: () => (calls += 1) });
    await rankOf(world, 0).submit([[lone, four(), four()]], { onComplete: () => world.close() });
    expectFault(await failureOf(inFlight), "CLOSED");
    expect(calls).toBe(0);
  });

  it("may be closed by the callback of an aborted run, and the others that were delivered with it are told why they failed", async () => {
    const world = openWorld({ ranks: 2 });
    const rank = rankOf(world, 0);
    const collectives = [1, 2, 3].map((id) => rank.register({ ...base, id }));
    const told: string[] = [];
    const batches = collectives.map((collective) =>
      rank.submit([[collective, four(), four()]], {
        onComplete: ({ status, collective: { id } }) => {
          told.push(`${id} ${status}`);
          world.close();
        },
      }),
    );
    for (const collective of collectives) collective.abort();
    for (const batch of batches) expectFault(await failureOf(batch), "ABORTED");
    expect(told.toSorted()).toEqual(["1 aborted", "2 aborted", "3 aborted"]);
    expect(rank.pendingRuns).toBe(0);
    expect(engineOfRank(rank).quarantine.isEmpty).toBe(true);
  });

  it("delivers the other runs when nobody can tell why one failed", async () => {
    using world = openWorld({ ranks: 2 });
    const rank = rankOf(world, 0);
    const { native } = engineOfRank(rank).engine;
    const collectives = [1, 2].map((id) => rank.register({ ...base, id }));
    const batches = collectives.map((collective) => rank.submit([[collective, four(), four()]]));
    const spy = vi.spyOn(native, "whyAborted").mockImplementationOnce(() => {
      throw Object.assign(new Error("no such thing"), { status: 12, remedy: "Find it." });
    });
    try {
      for (const collective of collectives) collective.abort();
      expectFault(await failureOf(batches[0] as Batch), "SYSTEM");
      expectFault(await failureOf(batches[1] as Batch), "ABORTED");
    } finally {
      spy.mockRestore();
    }
  });

  it("isn't unregistered while runs are in flight", async () => {
    using world = openWorld({ ranks: 2 });
    const [first, second] = world.ranks.map((rank) => rank.register(base));
    const run = first?.run(four(), four());
    expectFault(
      thrownBy(() => first?.unregister()),
      "IN_USE",
      { id: 7, rank: 0, inFlight: 1 },
    );
    await Promise.all([run, second?.run(four(), four())]);
    first?.unregister();
  });
});
