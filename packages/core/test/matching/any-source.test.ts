// Receives from any member: what comes first is taken, and who has sent it is told.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openWorld, type Rank, type Received } from "../../src/index.js";
import { expectFault } from "../support/faults.js";
import { failureOf, rankOf, turns } from "../support/open.js";

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const slots = { submissionSlots: 16, completionSlots: 16 };

describe("a receive from any rank", () => {
  it.each([0, 1])("gets what all ranks send to all, itself among them, each sender's in its order; workers: %d", async (workers) => {
    const [size, messages] = [4, 40];
    using world = openWorld({ ranks: size, ...slots, workers });
    const everything = async (rank: Rank, own: number): Promise<void> => {
      const group = rank.group();
      const jobs = fc.sample(fc.shuffledSubarray(indices(2 * size * messages), { minLength: 2 * size * messages }), {
        seed: own,
        numRuns: 1,
      })[0];
      const [got, next]: [Promise<[from: number, value: number]>[], number[]] = [[], indices(size).map(() => 0)];
      const sent = (jobs ?? []).map((job) => {
        if (job % 2 === 0) {
          const x = new Int32Array(1);
          got.push(group.recvAny(x, { tag: 3 }).then((from) => [from, x[0] ?? -1]));
          return undefined;
        }
        const to = (job >> 1) % size;
        const value = 1000 * own + (next[to] ?? 0);
        next[to] = (next[to] ?? 0) + 1;
        return group.send(Int32Array.of(value), to, { tag: 3 });
      });
      const received = await Promise.all(got);
      await Promise.all(sent);
      for (const from of indices(size)) {
        const values = received.filter(([source]) => source === from).map(([, value]) => value);
        expect(values).toEqual(indices(messages).map((i) => 1000 * from + i));
      }
      group.drop();
    };
    await Promise.all(world.ranks.map(everything));
  });

  it("takes no other tag, count or type, names who hasn't sent, and goes on", async () => {
    using world = openWorld({ ranks: 3 });
    const [a, b, c] = [rankOf(world, 0), rankOf(world, 1), rankOf(world, 2)];
    const y = new Int32Array(1);
    const others = [
      b.send(Int32Array.of(1), 0, { tag: 2 }),
      b.send(Int32Array.of(2, 2), 0, { tag: 1 }),
      b.send(Uint32Array.of(3), 0, { tag: 1 }),
    ];
    const group = a.group();
    const late = await failureOf(a.recvAny(y, { tag: 1, timeoutMs: 30 }));
    expectFault(late, "TIMEOUT", { missing: [1, 2], collective: "receive from any rank of 1 int32, tag 1, on rank 0" });
    expect(a.pendingRuns).toBe(1);
    await c.send(Int32Array.of(9), 0, { tag: 1 });
    await turns(3);
    expect(y[0]).toBe(9);
    const [z, many] = [new Uint32Array(1), new Int32Array(2)];
    expect(await Promise.all([a.recvAny(z, { tag: 1 }), a.recvAny(many, { tag: 1 }), a.recvAny(y, { tag: 2 })])).toEqual([1, 1, 1]);
    expect([z[0], ...many, y[0]]).toEqual([3, 2, 2, 1]);
    await Promise.all(others);
    group.drop();
  });

  it("waits behind one that names the sender, though that came later", async () => {
    using world = openWorld({ ranks: 3 });
    const [a, b, c] = [rankOf(world, 0), rankOf(world, 1), rankOf(world, 2)];
    const [any, named] = [new Int32Array(1), new Int32Array(1)];
    let from: number | undefined;
    const whenAny = a.recvAny(any).then((source) => {
      from = source;
    });
    await turns(3);
    const whenNamed = a.recv(named, 2);
    await c.send(Int32Array.of(9), 0);
    await whenNamed;
    await turns(3);
    expect([named[0], from]).toEqual([9, undefined]);
    await Promise.all([b.send(Int32Array.of(8), 0), whenAny]);
    expect([any[0], from]).toEqual([8, 1]);
  });

  it("in a batch tells from whom once that is over", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const [x, y, z] = [new Int32Array(1), new Int32Array(1), Int32Array.of(4)];
    const received: Received[] = [];
    const batch = a.batch((calls) => {
      received.push(calls.recvAny(x), calls.recvAny(y, { tag: 1 }));
      calls.send(z, 0, { tag: 1 });
      calls.allReduce(z);
    });
    await turns(3);
    expect(received.map(({ source }) => source)).toEqual([undefined, 0]);
    await Promise.all([b.allReduce(Int32Array.of(1)), b.send(Int32Array.of(7), 0), batch]);
    expect(received.map(({ source }) => source)).toEqual([1, 0]);
    expect([x[0], z[0]]).toEqual([7, 5]);
  });

  it("that is refused in a batch leaves nothing behind", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const x = new Int32Array(1);
    const refused = a.batch((calls) => {
      calls.recvAny(x);
      calls.send(x, 7);
    });
    expectFault(await failureOf(refused), "INVALID_ARGUMENT", { argument: "peer" });
    expect(a.pendingRuns).toBe(0);
    const [from] = await Promise.all([a.recvAny(x), b.send(Int32Array.of(3), 0)]);
    expect([from, x[0]]).toEqual([1, 3]);
  });

  it("keeps its group in use, and is given up with it, or with the world", async () => {
    const world = openWorld({ ranks: 2 });
    const a = rankOf(world, 0);
    const group = a.group();
    const [one, two] = [failureOf(group.recvAny(new Int32Array(1))), failureOf(a.recvAny(new Int32Array(1)))];
    await turns(2);
    expect(() => group.drop()).toThrow("1 runs in flight");
    group.abort();
    expectFault(await one, "ABORTED");
    expectFault(await failureOf(group.recvAny(new Int32Array(1))), "ABORTED");
    group.drop();
    expect(a.pendingRuns).toBe(1);
    world.close();
    expectFault(await two, "CLOSED");
    expect(a.pendingRuns).toBe(0);
  });

  it("passes over who has given up what it sent, and fails where nobody is left", async () => {
    using world = openWorld({ ranks: 3 });
    const [a, b, c] = world.ranks.map((rank) => rank.group());
    if (a === undefined || b === undefined || c === undefined) throw new Error("a rank is missing");
    const x = new Int32Array(1);
    const received = a.recvAny(x);
    await turns(3);
    const first = failureOf(b.send(Int32Array.of(1), 0));
    b.abort();
    expectFault(await first, "ABORTED");
    await turns(3);
    await c.send(Int32Array.of(2), 0);
    expect([await received, x[0]]).toEqual([2, 2]);
    const last = failureOf(c.send(Int32Array.of(3), 0));
    c.abort();
    expectFault(await last, "ABORTED");
    expectFault(await failureOf(a.recvAny(x)), "ABORTED", { collective: expect.stringContaining("receive from any rank") });
    expect([x[0], world.ranks[0]?.pendingRuns]).toEqual([2, 0]);
  });

  it("of one who is alone gets what that sends to itself", async () => {
    using world = openWorld({ ranks: 1 });
    const rank = rankOf(world, 0);
    const x = new Int32Array(1);
    const from = rank.recvAny(x);
    await turns(3);
    await rank.send(Int32Array.of(5), 0);
    expect([await from, x[0]]).toEqual([0, 5]);
  });

  it("isn't stopped by senders that fill their queues", async () => {
    const [size, messages] = [3, 500];
    using world = openWorld({ ranks: size, ...slots });
    const [a, ...others] = world.ranks;
    const sends = others.flatMap((rank) => indices(messages).map((i) => rank.send(Int32Array.of(i), 0)));
    const seen = indices(size).map(() => 0);
    for (let i = 0; i < 2 * messages; i += 1) {
      const x = new Int32Array(1);
      const from = (await a?.recvAny(x)) ?? 0;
      expect(x[0]).toBe(seen[from]);
      seen[from] = (seen[from] ?? 0) + 1;
    }
    await Promise.all(sends);
    expect(seen).toEqual([0, messages, messages]);
  });
});
