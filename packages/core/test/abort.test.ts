import { getEventListeners } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { CollectiveAbortedError, CollectiveTimeoutError, openWorld, type RegisteredCollective, type World } from "../src/index.js";
import { engineOfRank } from "../src/rank.js";
import { base, expectFault, thrownBy } from "./support/faults.js";
import { failureOf, rankOf, turns } from "./support/open.js";

const four = (value = 0): Float32Array => new Float32Array(4).fill(value);

function registerEverywhere(world: World, id = base.id): RegisteredCollective[] {
  return world.ranks.map((rank) => rank.register({ ...base, id }));
}

describe("a timeout", () => {
  it("names the ranks that never registered and those that never submitted, and leaves the run in flight", async () => {
    using world = openWorld({ ranks: 4 });
    const [first, second] = [0, 1, 2].map((rank) => rankOf(world, rank).register(base));
    const x = four(1);
    const batch = rankOf(world, 1).submit([[second as RegisteredCollective, x, x]]);
    const error = await failureOf((first as RegisteredCollective).run(x, four(), { timeoutMs: 20 }));
    expect(error).toBeInstanceOf(CollectiveTimeoutError);
    expectFault(error, "TIMEOUT", { unregistered: [3], missing: [2], run: 0, timeoutMs: 20 });
    expect((error as Error).message).toContain("rank 3 never registered it; rank 2 never submitted it");
    expect(rankOf(world, 0).pendingRuns).toBe(1);
    await rankOf(world, 2)
      .register({ ...base, id: 99, ranks: [2] })
      .run(four(), four());
    expect(batch.pending).toBe(1);
  });

  it("is no end: the run completes when the missing rank comes", async () => {
    using world = openWorld({ ranks: 2 });
    const [first, second] = registerEverywhere(world);
    const recv = four();
    expectFault(await failureOf(first?.run(four(1), recv, { timeoutMs: 5 }) ?? Promise.resolve()), "TIMEOUT", { missing: [1] });
    await second?.run(four(2), four());
    // Rank 1's run may be over before rank 0's.
    while (rankOf(world, 0).pendingRuns > 0) await turns(1);
    expect([...recv]).toEqual([3, 3, 3, 3]);
  });

  it("tells a rank that is late by a run from one that never came", async () => {
    using world = openWorld({ ranks: 2 });
    const [first, second] = registerEverywhere(world);
    await Promise.all([first?.run(four(), four()), second?.run(four(), four())]);
    const error = await failureOf(first?.run(four(), four(), { timeoutMs: 5 }) ?? Promise.resolve());
    expectFault(error, "TIMEOUT", { run: 1, missing: [1] });
    expect((error as CollectiveTimeoutError).facts.members).toMatchObject([{ submitted: 2 }, { submitted: 1, finished: 1 }]);
  });

  it("names nobody where all have come and another collective comes first", async () => {
    // In order, so that a run can be held up by another that waits for a rank outside the group.
    using world = openWorld({ ranks: 3, policy: "in-order" });
    const [zero, one] = [rankOf(world, 0), rankOf(world, 1)];
    const blocker = zero.register({ ...base, id: 1, ranks: [0, 2] });
    const pair = [zero, one].map((rank) => rank.register({ ...base, id: 2, ranks: [0, 1] }));
    zero.submit([[blocker, four(), four()]]);
    const other = one.submit([[pair[1] as RegisteredCollective, four(), four()]]);
    const error = await failureOf(pair[0]?.run(four(), four(), { timeoutMs: 20 }) ?? Promise.resolve());
    expectFault(error, "TIMEOUT", { missing: [], unregistered: [] });
    expect((error as Error).message).toContain("every rank has submitted it");
    expect(other.pending).toBe(1);
  });
});

describe("a signal", () => {
  it("still aborts a run whose timeout is over, until it has ended", async () => {
    using world = openWorld({ ranks: 2 });
    const [first, second] = registerEverywhere(world) as [RegisteredCollective, RegisteredCollective];
    const controller = new AbortController();
    const { signal } = controller;
    expectFault(await failureOf(first.run(four(), four(), { timeoutMs: 5, signal })), "TIMEOUT");
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    controller.abort();
    expectFault(await failureOf(second.run(four(), four())), "ABORTED");
    while (rankOf(world, 0).pendingRuns > 0) await turns(1);
  });

  it("has to be one, and not only to have its prototype", async () => {
    using world = openWorld({ ranks: 2 });
    const [first] = registerEverywhere(world) as [RegisteredCollective];
    const signal: AbortSignal = Object.create(AbortSignal.prototype);
    expectFault(await failureOf(first.run(four(), four(), { signal })), "INVALID_ARGUMENT", { argument: "signal" });
    expect(rankOf(world, 0).pendingRuns).toBe(0);
  });

  it("is no longer listened to when the run is over", async () => {
    using world = openWorld({ ranks: 2 });
    const [first, second] = registerEverywhere(world) as [RegisteredCollective, RegisteredCollective];
    const { signal } = new AbortController();
    expectFault(await failureOf(first.run(four(), four(), { timeoutMs: 5, signal })), "TIMEOUT");
    await Promise.all([second.run(four(), four()), first.run(four(), four(), { signal }), second.run(four(), four())]);
    await turns(1);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("throws nothing into its event where the engine refuses", async () => {
    const world = openWorld({ ranks: 2 });
    const [first] = registerEverywhere(world) as [RegisteredCollective];
    const controller = new AbortController();
    const run = failureOf(first.run(four(), four(), { signal: controller.signal }));
    const spy = vi.spyOn(engineOfRank(rankOf(world, 0)).engine.native, "abort").mockImplementation(() => {
      throw Object.assign(new Error("no such thing"), { status: 12, remedy: "Find it." });
    });
    try {
      controller.abort();
      await turns(3);
    } finally {
      spy.mockRestore();
    }
    world.close();
    expectFault(await run, "CLOSED");
  });
});

describe("an abort", () => {
  it("fails the runs in flight on all ranks, and later ones until everybody has registered anew", async () => {
    using world = openWorld({ ranks: 3 });
    const [first, second, third] = registerEverywhere(world);
    const runs = [first?.run(four(), four()), second?.run(four(), four()), second?.run(four(), four())];
    third?.abort();
    for (const run of runs) expectFault(await failureOf(run ?? Promise.resolve()), "ABORTED");
    expectFault(await failureOf(third?.run(four(), four()) ?? Promise.resolve()), "ABORTED", { collective: "all-reduce 7 on rank 2" });
    await Promise.all([first, second, third].map((collective) => collective?.quarantine()));
    for (const collective of [first, second, third]) collective?.unregister();

    const again = registerEverywhere(world);
    const outputs = again.map(() => four());
    await Promise.all(again.map((collective, rank) => collective.run(four(rank), outputs[rank])));
    expect(outputs.map(([value]) => value)).toEqual([3, 3, 3]);
  });

  it("never lets an old run meet a new registration", async () => {
    using world = openWorld({ ranks: 2 });
    const [first, second] = registerEverywhere(world);
    const old = first?.run(four(100), four());
    second?.abort();
    await failureOf(old ?? Promise.resolve());
    first?.unregister();
    const renewed = rankOf(world, 0).register(base);
    const x = four(1);
    const fresh = renewed.run(x, x);
    expectFault(await failureOf(second?.run(four(200), four()) ?? Promise.resolve()), "ABORTED");
    second?.unregister();
    const y = four(2);
    await Promise.all([fresh, rankOf(world, 1).register(base).run(y, y)]);
    expect([x[0], y[0]]).toEqual([3, 3]);
  });

  it("leaves other collectives alone, in flight or not", async () => {
    using world = openWorld({ ranks: 2 });
    const doomed = registerEverywhere(world, 1);
    const sound = registerEverywhere(world, 2);
    const [x, y] = [four(1), four(2)];
    const inFlight = sound[0]?.run(x, x);
    const lost = doomed[0]?.run(four(), four());
    doomed[1]?.abort();
    await failureOf(lost ?? Promise.resolve());
    await Promise.all([inFlight, sound[1]?.run(y, y)]);
    expect([x[3], y[3]]).toEqual([3, 3]);
  });

  it("reaches runs that wait for room, and a batch tells each of them once", async () => {
    using world = openWorld({ ranks: 2, submissionSlots: 4, completionSlots: 8 });
    const [first] = registerEverywhere(world);
    const statuses: string[] = [];
    const batch = rankOf(world, 0).submit(
      Array.from({ length: 30 }, () => [first as RegisteredCollective, four(), four()] as const),
      { onComplete: ({ status }) => statuses.push(status) },
    );
    await turns(20);
    first?.abort();
    expectFault(await failureOf(batch), "ABORTED");
    expect(statuses).toEqual(Array(30).fill("aborted"));
    first?.unregister();
  });

  it("twice, from several ranks, is one", async () => {
    using world = openWorld({ ranks: 2 });
    const collectives = registerEverywhere(world);
    for (const collective of [...collectives, ...collectives]) collective.abort();
    await Promise.all(collectives.map((collective) => collective.quarantine()));
    for (const collective of collectives) collective.unregister();
  });
});

describe("an AbortSignal", () => {
  it("aborts the collective on all ranks, and its reason is the cause", async () => {
    using world = openWorld({ ranks: 2 });
    const [first, second] = registerEverywhere(world);
    const controller = new AbortController();
    const reason = new Error("the user left");
    const run = first?.run(four(), four(), { signal: controller.signal });
    await turns(10);
    controller.abort(reason);
    const error = await failureOf(run ?? Promise.resolve());
    expect(error).toBeInstanceOf(CollectiveAbortedError);
    expect((error as CollectiveAbortedError).cause).toBe(reason);
    expectFault(await failureOf(second?.run(four(), four()) ?? Promise.resolve()), "ABORTED");
  });

  it("that is aborted already keeps the run from being submitted, and harms nobody", async () => {
    using world = openWorld({ ranks: 2 });
    const [first, second] = registerEverywhere(world);
    expectFault(await failureOf(first?.run(four(), four(), { signal: AbortSignal.abort() }) ?? Promise.resolve()), "ABORTED");
    const x = four(1);
    await Promise.all([first?.run(x, x), second?.run(four(4), four())]);
    expect(x[0]).toBe(5);
  });

  it("has no effect once the run is over or the world is closed", async () => {
    const controller = new AbortController();
    const world = openWorld({ ranks: 1 });
    const collective = rankOf(world, 0).register(base);
    await collective.run(four(), four(), { signal: controller.signal });
    const pair = openWorld({ ranks: 2 });
    const stuck = rankOf(pair, 0).register(base).run(four(), four(), { signal: controller.signal });
    pair.close();
    controller.abort();
    expectFault(await failureOf(stuck), "CLOSED");
    await collective.run(four(), four());
    world.close();
    expectFault(
      thrownBy(() => collective.abort()),
      "CLOSED",
    );
  });
});
