// Messages between two ranks: matched per pair and tag, any number outstanding, in any order on both sides.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openWorld } from "../../src/index.js";
import { expectFault } from "../support/faults.js";
import { failureOf, rankOf, turns } from "../support/open.js";

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const slots = { submissionSlots: 16, completionSlots: 16 };

describe("messages", () => {
  it.each(["sends", "receives"])("%s first on both sides", async (first) => {
    using world = openWorld({ ranks: 2, ...slots });
    const received = await Promise.all(
      world.ranks.map(async (rank) => {
        const peer = 1 - rank.number;
        const into = indices(100).map(() => new Int32Array(3));
        const sends = (): Promise<void>[] => indices(100).map((i) => rank.send(Int32Array.of(rank.number, i, 2 * i), peer));
        const recvs = (): Promise<void>[] => into.map((x) => rank.recv(x, peer));
        await Promise.all(first === "sends" ? [...sends(), ...recvs()] : [...recvs(), ...sends()]);
        return into.map((x) => [...x]);
      }),
    );
    for (const rank of [0, 1]) expect(received[rank]).toEqual(indices(100).map((i) => [1 - rank, i, 2 * i]));
  });

  it("of different tags, types and counts may overtake one another", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const [one, two, many, other] = [new Int32Array(1), new Int32Array(1), new Int32Array(5), new Float64Array(1)];
    const received = [b.recv(other, 0), b.recv(many, 0), b.recv(two, 0, { tag: 2n ** 60n }), b.recv(one, 0, { tag: 1 })];
    await Promise.all([
      a.send(Int32Array.of(1), 1, { tag: 1 }),
      a.send(Int32Array.of(2), 1, { tag: 2n ** 60n }),
      a.send(Int32Array.of(5, 5, 5, 5, 5), 1),
      a.send(Float64Array.of(0.5), 1),
      ...received,
    ]);
    expect([...one, ...two, ...many, ...other]).toEqual([1, 2, 5, 5, 5, 5, 5, 0.5]);
  });

  it("to oneself move when both halves are there, each side in its order", async () => {
    using world = openWorld({ ranks: 1 });
    const rank = rankOf(world, 0);
    const into = indices(4).map(() => new Int32Array(1));
    const sent = [rank.send(Int32Array.of(10), 0), rank.send(Int32Array.of(11), 0)];
    await turns(3);
    const received = into.map((x) => rank.recv(x, 0));
    await Promise.all([...sent, ...received.slice(0, 2)]);
    await Promise.all([rank.send(Int32Array.of(12), 0), rank.send(Int32Array.of(13), 0), ...received]);
    expect(into.map((x) => x[0])).toEqual([10, 11, 12, 13]);
  });

  it("that don't come are named after a time, and may come later", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const x = new Int32Array(1);
    expectFault(await failureOf(a.recv(x, 1, { timeoutMs: 20 })), "TIMEOUT", { missing: [1], unregistered: [] });
    expectFault(await failureOf(a.recv(new Int32Array(1), 0, { timeoutMs: 20 })), "TIMEOUT", { missing: [0] });
    await b.send(Int32Array.of(4), 0);
    await turns(3);
    expect(x[0]).toBe(4);
  });

  it("between random pairs, in random orders", async () => {
    const sample = fc.record({
      ranks: fc.integer({ min: 1, max: 5 }),
      messages: fc.array(fc.record({ from: fc.nat(4), to: fc.nat(4), count: fc.integer({ min: 0, max: 3 }), tag: fc.nat(1) }), {
        maxLength: 60,
      }),
      seed: fc.integer(),
    });
    await fc.assert(
      fc.asyncProperty(sample, async ({ ranks, messages, seed }) => {
        using world = openWorld({ ranks, ...slots });
        const all = messages.map(({ from, to, count, tag }, value) => ({ from: from % ranks, to: to % ranks, count, tag, value }));
        const signature = (m: (typeof all)[number]): string => [m.from, m.to, m.count, m.tag].join();
        await Promise.all(
          world.ranks.map(async (rank, number) => {
            const roles = all.flatMap((message) => [
              ...(message.from === number ? [{ message, isSend: true }] : []),
              ...(message.to === number ? [{ message, isSend: false }] : []),
            ]);
            const order = fc.sample(fc.shuffledSubarray(roles, { minLength: roles.length }), { seed: seed + number, numRuns: 1 })[0] ?? [];
            // Of equal signature and role the n-th goes with the n-th, so each takes the next of its kind.
            const next = new Map<string, number>();
            await Promise.all(
              order.map(async ({ message, isSend }) => {
                const key = `${signature(message)} ${isSend}`;
                const nth = next.get(key) ?? 0;
                next.set(key, nth + 1);
                const meant = all.filter((m) => signature(m) === signature(message))[nth];
                const x = new Int32Array(message.count).fill(isSend ? (meant?.value ?? -1) : -1);
                if (isSend) await rank.send(x, message.to, { tag: message.tag });
                else {
                  await rank.recv(x, message.from, { tag: message.tag });
                  expect([...x]).toEqual(Array(message.count).fill(meant?.value));
                }
              }),
            );
          }),
        );
      }),
      { numRuns: 60 },
    );
  });
});
