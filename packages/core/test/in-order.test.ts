import { describe, expect, it } from "vitest";
import { DeadlockError, openWorld, type Rank, type RegisteredCollective, type World } from "../src/index.js";
import { failureOf, rankOf, turns } from "./support/open.js";

// The four situations of DFCCL, Fig. 1, with preemption switched off. Each has its counterpart: the same orders under the
// default policy, which complete.
const options = { collective: "all-reduce", dataType: "int32", count: 4 } as const;

type Submit = (rank: Rank, id: number) => PromiseLike<void>;

function prepare(world: World, ids: readonly number[]): Submit {
  const collectives = new Map<string, RegisteredCollective>();
  for (const rank of world.ranks) for (const id of ids) collectives.set(`${rank.number} ${id}`, rank.register({ id, ...options }));
  return (rank, id) => {
    const collective = collectives.get(`${rank.number} ${id}`);
    if (!collective) throw new Error(`no collective ${id}`);
    return rank.submit([[collective, new Int32Array(4), new Int32Array(4)]]);
  };
}

const [A, B, C, D] = [0, 1, 2, 3];

/** Each rank submits all at once, in an order of its own. */
function inOrders(...orders: readonly (readonly number[])[]): (world: World) => Promise<void> {
  return async (world) => {
    const submit = prepare(world, [A, B, C, D]);
    await Promise.all(orders.flatMap((order, number) => order.map((id) => submit(rankOf(world, number), id))));
  };
}

/** A on rank 0 and B on rank 1, each followed by a synchronization before the other collective. */
async function withSynchronization(world: World): Promise<void> {
  const submit = prepare(world, [A, B]);
  const act = async (rank: Rank, first: number, second: number): Promise<void> => {
    const before = submit(rank, first);
    await turns(20);
    await rank.synchronize();
    await Promise.all([before, submit(rank, second)]);
  };
  await Promise.all([act(rankOf(world, 0), A, B), act(rankOf(world, 1), B, A)]);
}

interface Situation {
  readonly name: string;
  readonly streams: number;
  readonly act: (world: World) => Promise<void>;
}

const deadly: readonly Situation[] = [
  { name: "one queue and opposite orders", streams: 1, act: inOrders([A, B], [B, A]) },
  { name: "fewer streams than the orders need", streams: 2, act: inOrders([A, B, C, D], [C, D, A, B]) },
  { name: "streams enough, but a synchronization between", streams: 2, act: withSynchronization },
];

const harmless: readonly Situation[] = [
  { name: "one queue and one order", streams: 1, act: inOrders([A, B, C, D], [A, B, C, D]) },
  { name: "streams enough for the orders", streams: 3, act: inOrders([A, B, C, D], [C, D, A, B]) },
];

describe("without preemption", () => {
  it.each(deadly)("$name deadlock, and the error names a cycle", async ({ act, streams }) => {
    using world = openWorld({ ranks: 2, policy: "in-order", streams });
    const error = await failureOf(act(world));
    expect(error).toBeInstanceOf(DeadlockError);
    const { cycle, text } = (error as DeadlockError).report;
    expect((error as DeadlockError).facts.cycle).toEqual(cycle);
    expect(cycle.length).toBeGreaterThanOrEqual(2);
    expect(new Set(cycle.map(({ rank }) => rank))).toEqual(new Set([0, 1]));
    for (const { rank, id, name } of cycle) {
      expect(text).toContain(`rank ${rank}`);
      expect(name).toBe(`all-reduce ${id}`);
      expect(text).toContain(name);
    }
    expect(world.deadlock()).toEqual({ cycle, text });
    expect(cycle.some(({ state }) => state === "not submitted")).toBe(act === withSynchronization);
  });

  it.each(harmless)("$name complete", async ({ act, streams }) => {
    using world = openWorld({ ranks: 2, policy: "in-order", streams });
    await act(world);
    expect(world.deadlock()).toBeUndefined();
  });

  it("a synchronization that blocks this thread ends with the deadlock that it is in", async () => {
    using world = openWorld({ ranks: 2, policy: "in-order", streams: 1 });
    const submit = prepare(world, [A, B]);
    const batches = [submit(rankOf(world, 0), A), submit(rankOf(world, 0), B), submit(rankOf(world, 1), B), submit(rankOf(world, 1), A)];
    const failures = batches.map(failureOf);
    let error: unknown;
    while (!error) {
      try {
        rankOf(world, 0).synchronizeBlocking();
        await turns(1);
      } catch (thrown) {
        error = thrown;
      }
    }
    expect(error).toBeInstanceOf(DeadlockError);
    for (const failure of await Promise.all(failures)) expect(failure).toBeInstanceOf(DeadlockError);
  });

  it("a rank that is merely late is no deadlock", async () => {
    using world = openWorld({ ranks: 2, policy: "in-order", streams: 1 });
    const submit = prepare(world, [A, B]);
    const early = [submit(rankOf(world, 0), A), submit(rankOf(world, 0), B)];
    await turns(300);
    expect(world.deadlock()).toBeUndefined();
    await Promise.all([...early, submit(rankOf(world, 1), A), submit(rankOf(world, 1), B)]);
  });
});

describe("with preemption", () => {
  it.each([...deadly, ...harmless])("$name complete", async ({ act }) => {
    using world = openWorld({ ranks: 2 });
    await act(world);
    expect(world.deadlock()).toBeUndefined();
  });
});
