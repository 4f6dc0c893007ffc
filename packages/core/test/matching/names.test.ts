import { describe, expect, it } from "vitest";
import { BufferError, CollectiveTimeoutError, DeadlockError, openWorld } from "../../src/index.js";
import { failureOf, rankOf } from "../support/open.js";

// Who calls a collective without an id knows the call, and no number.
describe("what was called without an id is named by the call", () => {
  it("in a deadlock's report, whose nodes keep the number", async () => {
    using world = openWorld({ ranks: 2, policy: "in-order", streams: 1 });
    const orders = [
      [7, 8],
      [8, 7],
    ];
    const runs = orders.flatMap((tags, rank) => tags.map((tag) => rankOf(world, rank).allReduce(new Float32Array(3), { tag })));
    const [error] = await Promise.all(runs.map((run) => failureOf(run)));
    expect(error).toBeInstanceOf(DeadlockError);
    const { text, cycle } = (error as DeadlockError).report;
    const [seven, eight] = [7, 8].map((tag) => `all-reduce of 3 float32, sum, tag ${tag} (ranks 0, 1)`);
    expect(text).toContain(`rank 0 executes ${seven} and waits for rank 1`);
    expect(text).toContain(`on rank 1 ${seven} is queued behind ${eight}`);
    expect(new Set(cycle.map(({ name }) => name))).toEqual(new Set([seven, eight]));
    for (const { id } of cycle) expect(text).not.toContain(String(id));
  });

  it("in a timeout, with the ranks of its group, whatever their places there", async () => {
    using world = openWorld({ ranks: 3 });
    const group = rankOf(world, 0).group([2, 0]);
    const x = new Int32Array(5);
    const broadcast = await failureOf(group.broadcast(x, { root: 1, tag: 4, timeoutMs: 1 }));
    expect(broadcast).toBeInstanceOf(CollectiveTimeoutError);
    expect((broadcast as CollectiveTimeoutError).facts.collective).toBe("broadcast of 5 int32, root rank 0, tag 4 (ranks 2, 0) on rank 0");
    const message = await failureOf(group.send(x, 0, { tag: 4, timeoutMs: 1 }));
    expect((message as Error).message).toMatch(/^send-recv of 5 int32, from rank 0 to rank 2, tag 4 on rank 0 waited /);
    const part = await failureOf(group.allToAllV(x, [3, 2], x.slice(), [3, 2], { tag: 4, timeoutMs: 1 }));
    expect((part as Error).message).toContain("send-recv of 3 int32, from rank 0 to rank 2, tag 4, part of an all-to-all-v on rank 0");
  });

  it("where a buffer doesn't fit it", async () => {
    using world = openWorld({ ranks: 1 });
    const error = await failureOf(Promise.resolve().then(() => rankOf(world, 0).allGather(new Int8Array(4), new Int8Array(3))));
    expect(error).toBeInstanceOf(BufferError);
    expect((error as Error).message).toContain("all-gather of 4 int8, tag 0 (rank 0) on rank 0: the recv buffer");
  });
});
