// Every collective without registration, on groups in random orders, against results computed from the definitions.
import {
  type BuildableCollective,
  type DataType,
  dataTypes,
  holdsRawBits,
  isDefinedFor,
  type ReduceOp,
  reduceOps,
  takesReduceOp,
  typedArrayOf,
} from "@dfccl/primitives";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Group, openWorld } from "../../src/index.js";
import { bytesOf, elementsOf } from "../support/elements.js";
import { rankOf } from "../support/open.js";
import { inputLength, referenceOutputs } from "../support/reference.js";

const kinds = ["all-reduce", "all-gather", "reduce-scatter", "reduce", "broadcast", "all-to-all", "gather", "scatter"] as const;
type Kind = (typeof kinds)[number];
type View = ReturnType<typeof elementsOf>;
const ops = reduceOps.filter((op): op is Exclude<ReduceOp, "scaled-sum"> => op !== "scaled-sum");

interface Call {
  readonly kind: Kind;
  readonly dataType: DataType;
  readonly op: Exclude<ReduceOp, "scaled-sum">;
  readonly root: number;
  readonly count: number;
  readonly tag: number;
}

/** As collectives.test.ts has them: exact in every type, whatever the order. */
function elementAt(op: ReduceOp, rank: number, i: number): number {
  if (op === "avg") return (i % 3) + 1;
  if (op.startsWith("bit-")) return (5 * rank + 3 * i) % 8;
  return op === "prod" ? 1 + ((rank + i) % 2) : (3 * rank + 5 * i) % 3;
}

function makeCall(group: Group, call: Call, send: View, recv: View): Promise<void> {
  const { kind, dataType, op, root, tag, count } = call;
  const plain = holdsRawBits(dataType) ? { tag, dataType } : { tag };
  switch (kind) {
    case "all-reduce":
      return group.allReduce(send, { ...plain, op, into: recv });
    case "reduce":
      return group.reduce(send, { ...plain, op, root, into: recv });
    case "broadcast":
      // Whoever isn't the root receives into the only buffer that it has.
      return group.rank === root ? group.broadcast(send, { ...plain, root, into: recv }) : group.broadcast(recv, { ...plain, root });
    case "all-gather":
      return group.allGather(send, recv, plain);
    case "reduce-scatter":
      return group.reduceScatter(send, recv, { ...plain, op });
    case "all-to-all":
      return group.allToAll(send, recv, { ...plain, count });
    case "gather":
      return group.gather(send, group.rank === root ? recv : undefined, { ...plain, root });
    case "scatter":
      return group.scatter(group.rank === root ? send : null, recv, { ...plain, root });
  }
}

/** Makes the calls on every member of the group, each in an order of its own. @returns wrong results. */
async function runCalls(groups: readonly Group[], calls: readonly Call[], orders: readonly (readonly number[])[]): Promise<string[]> {
  const size = groups.length;
  const expected = calls.map((call) => {
    const inputs = groups.map((_, member) =>
      Array.from({ length: inputLength(call.kind as BuildableCollective, size, member, call.root, call.count) }, (__, i) =>
        elementAt(call.op, member, i),
      ),
    );
    const op = takesReduceOp(call.kind) ? call.op : "sum";
    const outputs = referenceOutputs({ collective: call.kind, op, count: call.count, root: call.root, inputs, scales: [] });
    return { inputs, outputs };
  });
  const wrong: string[] = [];
  await Promise.all(
    groups.map(async (group, member) => {
      await Promise.all(
        (orders[member] ?? []).map(async (at) => {
          const call = calls[at];
          const { inputs, outputs } = expected[at] ?? {};
          if (call === undefined) throw new Error(`no call ${at}`);
          const send = elementsOf(call.dataType, inputs?.[member] ?? []);
          const values = elementsOf(call.dataType, outputs?.[member] ?? []);
          const recv = new (typedArrayOf(call.dataType))(values.length) as View;
          await makeCall(group, call, send, recv);
          if (!Buffer.from(bytesOf(recv)).equals(bytesOf(values)))
            wrong.push(`${JSON.stringify(call)} at ${member}: ${recv}, not ${values}`);
        }),
      );
    }),
  );
  return wrong;
}

/** What the ranks match it by: a collective that takes no operator, or no root, is the same with any. */
function matched(call: Call, members: number): Call {
  const hasRoot = !["all-reduce", "all-gather", "reduce-scatter", "all-to-all"].includes(call.kind);
  return { ...call, op: takesReduceOp(call.kind) ? call.op : "sum", root: hasRoot ? call.root % members : 0 };
}

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
/** An order of its own for each of so many. */
const orders = (seed: number, members: number, calls: number): number[][] =>
  indices(members).map(
    (member) => fc.sample(fc.shuffledSubarray(indices(calls), { minLength: calls }), { seed: seed + member, numRuns: 1 })[0] ?? [],
  );

describe.each([4, 8])("on %d ranks", (size) => {
  it.each(kinds)("%s gives what its definition says with every type and operator", async (kind) => {
    using world = openWorld({ ranks: size });
    const calls = dataTypes.flatMap((dataType, i) =>
      (takesReduceOp(kind) ? ops.filter((op) => isDefinedFor(op, dataType)) : (["sum"] as const)).map(
        (op, k): Call => ({ kind, dataType, op, root: (i + k) % size, count: 7, tag: 0 }),
      ),
    );
    const groups = world.ranks.map((rank) => rank.group());
    expect(await runCalls(groups, calls, orders(1, size, calls.length))).toEqual([]);
  });
});

it("groups of any ranks, in any order on each, with any root, count and tag", async () => {
  const sample = fc.record({
    size: fc.constantFrom(4, 8),
    groups: fc.array(fc.record({ keys: fc.array(fc.nat(1000), { minLength: 8, maxLength: 8 }), members: fc.integer({ min: 1, max: 8 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    calls: fc.array(
      fc.record({
        kind: fc.constantFrom(...kinds),
        dataType: fc.constantFrom<DataType>("int32", "float64", "uint8", "int64"),
        op: fc.constantFrom(...ops),
        root: fc.nat(7),
        count: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 6, max: 2000 })),
        tag: fc.nat(2),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    seed: fc.integer(),
  });
  await fc.assert(
    fc.asyncProperty(sample, async ({ size, groups, calls, seed }) => {
      using world = openWorld({ ranks: size });
      const wrong = await Promise.all(
        groups.map(({ keys, members }, g) => {
          const ranks = indices(size)
            .sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0))
            .slice(0, members);
          const own = ranks.map((rank) => rankOf(world, rank).group(ranks));
          // Calls that the engine can't tell apart go together in the order of their submission, so each comes once.
          const defined = calls.filter(({ op, dataType }) => isDefinedFor(op, dataType));
          const rooted = defined.map((call) => matched(call, ranks.length));
          const distinct = [...new Map(rooted.map((call) => [JSON.stringify(call), call])).values()];
          return runCalls(own, distinct, orders(seed + g, ranks.length, distinct.length));
        }),
      );
      expect(wrong.flat()).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

it("in place, a rank's own methods, and a barrier", async () => {
  using world = openWorld({ ranks: 4 });
  const results = await Promise.all(
    world.ranks.map(async (rank) => {
      const sum = new Float32Array(3).fill(rank.number + 1);
      const all = new Int32Array(8);
      all.set([rank.number, -rank.number], 2 * rank.number);
      const own = Int32Array.of(1, 2, 3, 4).map((value) => value * 10 ** rank.number);
      await Promise.all([
        rank.barrier(),
        rank.allReduce(sum),
        rank.allGather(all.subarray(2 * rank.number, 2 * rank.number + 2), all),
        rank.reduceScatter(own, own.subarray(rank.number, rank.number + 1)),
        rank.barrier({ tag: 1n }),
      ]);
      return [...sum, ...all, own[rank.number]];
    }),
  );
  for (const [rank, result] of results.entries()) expect(result).toEqual([10, 10, 10, 0, 0, 1, -1, 2, -2, 3, -3, 1111 * (rank + 1)]);
});
