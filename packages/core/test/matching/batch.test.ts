// Several calls at once: submitted all or not at all, over together.
import { describe, expect, it } from "vitest";
import { type BatchedCalls, openWorld } from "../../src/index.js";
import { expectFault, untyped } from "../support/faults.js";
import { failureOf, rankOf, turns } from "../support/open.js";

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe("a batch", () => {
  it("of calls on several groups, in any order on each rank, is over when all of them are", async () => {
    const size = 3;
    using world = openWorld({ ranks: size });
    const results = await Promise.all(
      world.ranks.map(async (rank, number) => {
        const group = rank.group([2, 1, 0]);
        const own = Int32Array.of(10 + number);
        const [sum, left, self, all, parts] = [1, 1, 1, size, size].map((length) => new Int32Array(length)) as [
          Int32Array,
          Int32Array,
          Int32Array,
          Int32Array,
          Int32Array,
        ];
        const steps: ((calls: BatchedCalls) => void)[] = [
          (calls) => calls.recv(left, (number + size - 1) % size),
          (calls) => calls.allReduce(own, { into: sum, group }),
          (calls) => calls.send(own, number, { tag: 5 }),
          (calls) => calls.send(own, (number + 1) % size),
          (calls) => calls.recv(self, number, { tag: 5 }),
          (calls) => calls.allGather(own, all, { group }),
          (calls) => calls.allGatherV(own, parts, [1, 1, 1]),
          (calls) => calls.barrier({ group }),
        ];
        const order = indices(steps.length).map((i) => (i * (number === 1 ? 5 : 3) + number) % steps.length);
        await rank.batch((calls) => {
          for (const i of order) steps[i]?.(calls);
        });
        return [sum, left, self, all, parts].map((values) => [...values]);
      }),
    );
    for (const [number, result] of results.entries())
      expect(result).toEqual([[33], [10 + ((number + 2) % 3)], [10 + number], [12, 11, 10], [10, 11, 12]]);
  });

  it("of nothing is over at once", async () => {
    using world = openWorld({ ranks: 2 });
    await rankOf(world, 0).batch(() => {});
  });

  it("whose second call is refused has had no effect", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const [x, y] = [Int32Array.of(1), Int32Array.of(0)];
    const dropped = a.group();
    dropped.drop();
    const batches: [string, (calls: BatchedCalls) => void][] = [
      ["BUFFER", (calls) => calls.allReduce(x, { into: new Float32Array(1) as never })],
      ["INVALID_ARGUMENT", (calls) => calls.send(x, 7)],
      ["CLOSED", (calls) => calls.barrier({ group: dropped })],
      ["INVALID_ARGUMENT", (calls) => calls.barrier({ group: b.group() })],
      ["INVALID_ARGUMENT", (calls) => calls.barrier({ timeoutMs: 5 })],
    ];
    for (const [code, call] of batches) {
      const failure = await failureOf(
        a.batch((calls) => {
          calls.send(x, 1);
          calls.send(x, 0);
          call(calls);
        }),
      );
      expectFault(failure, code);
    }
    // The first message that comes is one of later: none of those was submitted.
    const received = b.recv(y, 0);
    await turns(5);
    await Promise.all([a.send(Int32Array.of(9), 1), received]);
    expect(y[0]).toBe(9);
  });

  it("whose function fails, isn't one, or goes on after it has returned, is refused", async () => {
    using world = openWorld({ ranks: 2 });
    const a = rankOf(world, 0);
    const mine = new Error("mine");
    const thrown = a.batch((calls) => {
      calls.barrier();
      throw mine;
    });
    expect(await failureOf(thrown)).toBe(mine);
    expectFault(await failureOf(a.batch(untyped(async () => {}))), "INVALID_ARGUMENT", { argument: "describe" });
    expectFault(await failureOf(a.batch(untyped(undefined))), "INVALID_ARGUMENT", { argument: "describe" });
    let late: BatchedCalls | undefined;
    await a.batch((calls) => {
      late = calls;
    });
    expect(() => late?.barrier()).toThrow("The batch");
    await Promise.all(world.ranks.map((rank) => rank.barrier()));
  });

  it("that is late names who is missing, and completes when he comes", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const [x, y] = [Int32Array.of(3), Int32Array.of(0)];
    const late = a.batch(
      (calls) => {
        calls.send(x, 0);
        calls.recv(y, 0);
        calls.barrier();
      },
      { timeoutMs: 50 },
    );
    expectFault(await failureOf(late), "TIMEOUT", { missing: [1] });
    expect(y[0]).toBe(3);
    await b.barrier();
  });

  it("of which a group is given up fails, when the rest is over", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const group = a.group();
    const sum = Int32Array.of(1);
    const batch = failureOf(
      a.batch((calls) => {
        calls.barrier({ group });
        calls.allReduce(sum);
      }),
    );
    group.abort();
    await b.allReduce(Int32Array.of(2));
    expectFault(await batch, "ABORTED");
    expect(sum[0]).toBe(3);
  });

  it("with a message to itself that is given up fails, when the rest is over", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const group = a.group();
    const sum = Int32Array.of(1);
    let isOver = false;
    const batch = failureOf(
      a.batch((calls) => {
        calls.send(sum, 0, { group });
        calls.allReduce(sum);
      }),
    ).finally(() => {
      isOver = true;
    });
    group.abort();
    await turns(5);
    expect(isOver).toBe(false);
    await b.allReduce(Int32Array.of(2));
    expectFault(await batch, "ABORTED");
    expect(sum[0]).toBe(3);
  });

  it("keeps no place of what is over: more signatures go by than there are places", async () => {
    using world = openWorld({ ranks: 1, maxCollectives: 8 });
    const a = rankOf(world, 0);
    const [x, y] = [Int32Array.of(5), Int32Array.of(0)];
    for (let tag = 0; tag < 20; tag += 1) {
      await a.batch((calls) => {
        calls.send(x, 0, { tag });
        calls.recv(y, 0, { tag });
      });
    }
    expect(y[0]).toBe(5);
  });
});
