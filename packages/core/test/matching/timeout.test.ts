// Calls that wait for some of their runs when others have long ended, and been forgotten.
import { describe, expect, it } from "vitest";
import { openWorld, type Rank } from "../../src/index.js";
import { expectFault } from "../support/faults.js";
import { failureOf, rankOf, turns } from "../support/open.js";

const timeoutMs = 400;
const floats = (count: number): Float32Array => new Float32Array(count);

async function untilPending(rank: Rank, runs: number): Promise<void> {
  while (rank.pendingRuns > runs) await turns(1);
}

describe("a timeout where ranks disagree", () => {
  it.each([
    [
      "count 9, not 10",
      "count 10, not 9",
      (rank: Rank, isOther: boolean) => rank.allReduce(floats(isOther ? 9 : 10), { tag: 7, timeoutMs: 50 }),
    ],
    [
      "operator max, not sum",
      "operator sum, not max",
      (rank: Rank, isOther: boolean) => rank.allReduce(floats(9), { tag: 7, op: isOther ? "max" : "sum", timeoutMs: 50 }),
    ],
    [
      "other counts, or of another group of the same ranks",
      "other counts, or of another group of the same ranks",
      (rank: Rank, isOther: boolean) => rank.allGatherV(floats(3), floats(4), isOther ? [3, 0, 1] : [3, 0, 0], { timeoutMs: 50 }),
    ],
  ] as const)("says that the missing rank has one of %s", async (difference, otherWay, call) => {
    using world = openWorld({ ranks: 3 });
    const [a, b, c] = await Promise.all(world.ranks.map((rank) => failureOf(call(rank, rank.number === 2))));
    for (const error of [a, b]) {
      expectFault(error, "TIMEOUT", { missing: [2], others: [{ rank: 2, difference }] });
      expect((error as Error).message).toContain(`rank 2 never submitted it, but rank 2 one of ${difference}.`);
    }
    expectFault(c, "TIMEOUT", {
      missing: [0, 1],
      others: [
        { rank: 0, difference: otherWay },
        { rank: 1, difference: otherWay },
      ],
    });
  });
});

describe("a timeout of a call of several runs", () => {
  it("names the run that is missing when another's group has been dropped", async () => {
    using world = openWorld({ ranks: 2 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const [own, other] = [a, b].map((rank) => rank.group([0, 1], { name: 5 }));
    const late = failureOf(
      a.batch(
        (calls) => {
          calls.allReduce(floats(4), own && { group: own });
          calls.allReduce(floats(3));
        },
        { timeoutMs },
      ),
    );
    await other?.allReduce(floats(4));
    await untilPending(a, 1);
    own?.drop();
    const error = await late;
    expectFault(error, "TIMEOUT", { missing: [1] });
    expect((error as Error).message).toContain("all-reduce of 3 float32");
    await b.allReduce(floats(3));
    await untilPending(a, 0);
  });

  it("names it when another's registration had to make room", async () => {
    using world = openWorld({ ranks: 2, maxCollectives: 4 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const late = failureOf(
      a.batch(
        (calls) => {
          calls.allReduce(floats(4));
          calls.allReduce(floats(5));
        },
        { timeoutMs },
      ),
    );
    await b.allReduce(floats(4));
    for (const count of [6, 7, 8]) await Promise.all([a, b].map((rank) => rank.allReduce(floats(count))));
    const error = await late;
    expectFault(error, "TIMEOUT", { missing: [1] });
    expect((error as Error).message).toContain("all-reduce of 5 float32");
  });

  it("names it when a message from any rank was received and forgotten", async () => {
    using world = openWorld({ ranks: 2, maxCollectives: 4 });
    const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
    const late = failureOf(
      a.batch(
        (calls) => {
          calls.recvAny(new Int32Array(2));
          calls.allReduce(floats(5));
        },
        { timeoutMs },
      ),
    );
    await b.send(new Int32Array(2), 0);
    await untilPending(a, 1);
    for (const count of [6, 7, 8]) await Promise.all([a, b].map((rank) => rank.allReduce(floats(count))));
    const error = await late;
    expectFault(error, "TIMEOUT", { missing: [1] });
    expect((error as Error).message).toContain("all-reduce of 5 float32");
  });
});
