import { describe, expect, it } from "vitest";
import { type Group, openWorld, type Rank } from "../../src/index.js";
import { expectFault, thrownBy, untyped } from "../support/faults.js";
import { failureOf, rankOf } from "../support/open.js";

const four = (): Float32Array => new Float32Array(4);
const resizable = (bytes: number): ArrayBuffer => {
  const Resizable = ArrayBuffer as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;
  return new Resizable(bytes, { maxByteLength: 2 * bytes });
};
const eight = new Float32Array(8);

interface Fault {
  readonly name: string;
  readonly call: (rank: Rank, group: Group) => Promise<unknown>;
  readonly code: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

const calls: readonly Fault[] = [
  { name: "a peer outside", call: (rank) => rank.send(four(), 2), code: "INVALID_ARGUMENT", facts: { argument: "peer", value: 2 } },
  { name: "a negative peer", call: (rank) => rank.recv(four(), -1), code: "INVALID_ARGUMENT", facts: { argument: "peer" } },
  { name: "no peer", call: (rank) => rank.recv(four(), untyped(undefined)), code: "INVALID_ARGUMENT", facts: { argument: "peer" } },
  { name: "from any rank into no buffer", call: (rank) => rank.recvAny(untyped(undefined)), code: "BUFFER", facts: { buffer: "recv" } },
  { name: "from any rank, of another type", call: (rank) => rank.recvAny(four(), { dataType: "int8" }), code: "BUFFER" },
  { name: "from any rank, beyond the buffer", call: (rank) => rank.recvAny(four(), { count: 5 }), code: "BUFFER", facts: { elements: 5 } },
  {
    name: "from any rank, into what can be resized",
    call: (rank) => rank.recvAny(new Float32Array(resizable(16))),
    code: "BUFFER",
  },
  { name: "from any rank, with half a tag", call: (rank) => rank.recvAny(four(), { tag: 0.5 }), code: "INVALID_ARGUMENT" },
  { name: "a root outside", call: (rank) => rank.broadcast(four(), { root: 2 }), code: "INVALID_ARGUMENT", facts: { argument: "root" } },
  { name: "a root that is no number", call: (rank) => rank.reduce(four(), { root: untyped("0") }), code: "INVALID_ARGUMENT" },
  { name: "half a tag", call: (rank) => rank.barrier({ tag: 0.5 }), code: "INVALID_ARGUMENT", facts: { argument: "tag", value: 0.5 } },
  { name: "a negative tag", call: (rank) => rank.barrier({ tag: -1 }), code: "INVALID_ARGUMENT", facts: { argument: "tag" } },
  { name: "a tag that isn't safe", call: (rank) => rank.barrier({ tag: 2 ** 53 }), code: "INVALID_ARGUMENT", facts: { argument: "tag" } },
  { name: "a negative bigint", call: (rank) => rank.barrier({ tag: -1n }), code: "INVALID_ARGUMENT", facts: { argument: "tag" } },
  { name: "a tag of 65 bits", call: (rank) => rank.barrier({ tag: 2n ** 64n }), code: "INVALID_ARGUMENT", facts: { argument: "tag" } },
  {
    name: "a tag that is a text",
    call: (rank) => rank.barrier({ tag: untyped("7") }),
    code: "INVALID_ARGUMENT",
    facts: { argument: "tag" },
  },
  {
    name: "a negative count",
    call: (rank) => rank.allReduce(four(), { count: -1 }),
    code: "INVALID_ARGUMENT",
    facts: { argument: "count" },
  },
  { name: "half a count", call: (rank) => rank.allReduce(four(), { count: 0.5 }), code: "INVALID_ARGUMENT", facts: { argument: "count" } },
  { name: "a count beyond all memory", call: (rank) => rank.allReduce(four(), { count: 2 ** 52 }), code: "INVALID_ARGUMENT" },
  { name: "a count beyond numbers", call: (rank) => rank.allReduce(four(), { count: 2 ** 53 }), code: "INVALID_ARGUMENT" },
  {
    name: "another operator",
    call: (rank) => rank.allReduce(four(), { op: untyped("xor") }),
    code: "INVALID_ARGUMENT",
    facts: { argument: "op" },
  },
  {
    name: "a sum with factors",
    call: (rank) => rank.allReduce(four(), { op: untyped("scaled-sum") }),
    code: "INVALID_ARGUMENT",
    facts: { argument: "op" },
  },
  {
    name: "bits of a float",
    call: (rank) => rank.allReduce(four(), { op: "bit-xor" }),
    code: "INVALID_ARGUMENT",
    facts: { argument: "op" },
  },
  { name: "another type", call: (rank) => rank.allReduce(four(), { dataType: untyped("float31") }), code: "INVALID_ARGUMENT" },
  {
    name: "a misspelt option",
    call: (rank) => rank.allReduce(four(), untyped({ tags: 1 })),
    code: "UNKNOWN_OPTION",
    facts: { nearest: "tag" },
  },
  { name: "an option of another method", call: (rank) => rank.barrier(untyped({ root: 1 })), code: "UNKNOWN_OPTION" },
  { name: "options that are null", call: (rank) => rank.allReduce(four(), untyped(null)), code: "INVALID_ARGUMENT" },
  {
    name: "a negative timeout",
    call: (rank) => rank.barrier({ timeoutMs: -1 }),
    code: "INVALID_ARGUMENT",
    facts: { argument: "timeoutMs" },
  },
  {
    name: "what is no group",
    call: (rank) => rank.barrier({ group: untyped({}) }),
    code: "INVALID_ARGUMENT",
    facts: { argument: "group" },
  },
  {
    name: "another rank's group",
    call: (rank) => rank.barrier({ group: rankOf(untyped(rank.world), 1).group() }),
    code: "INVALID_ARGUMENT",
    facts: { argument: "group" },
  },
  {
    name: "another group in a group's method",
    call: (rank, group) => group.barrier(untyped({ group: rank.group() })),
    code: "INVALID_ARGUMENT",
    facts: { argument: "group" },
  },
  { name: "no buffer", call: (rank) => rank.allReduce(untyped(undefined)), code: "BUFFER", facts: { buffer: "send" } },
  { name: "an array", call: (rank) => rank.allReduce(untyped([1, 2])), code: "BUFFER", facts: { given: "Array" } },
  { name: "a DataView", call: (rank) => rank.allReduce(new DataView(new ArrayBuffer(8))), code: "BUFFER", facts: { given: "DataView" } },
  {
    name: "a Uint16Array without its type",
    call: (rank) => rank.allReduce(new Uint16Array(2)),
    code: "BUFFER",
    facts: { given: "Uint16Array" },
  },
  { name: "a type that isn't the buffer's", call: (rank) => rank.allReduce(four(), { dataType: "int32" }), code: "BUFFER" },
  {
    name: "a result of another type",
    call: (rank) => rank.allReduce(four(), { into: new Int32Array(4) }),
    code: "BUFFER",
    facts: { buffer: "recv" },
  },
  {
    name: "a result that is too short",
    call: (rank) => rank.allReduce(four(), { into: new Float32Array(3) }),
    code: "BUFFER",
    facts: { elements: 4 },
  },
  { name: "a count beyond the buffer", call: (rank) => rank.allReduce(four(), { count: 5 }), code: "BUFFER", facts: { elements: 5 } },
  { name: "buffers that overlap", call: (rank) => rank.allReduce(eight.subarray(0, 4), { into: eight.subarray(2, 6) }), code: "BUFFER" },
  { name: "nowhere to gather", call: (rank) => rank.gather(four()), code: "BUFFER", facts: { buffer: "recv" } },
  { name: "nothing to scatter", call: (rank) => rank.scatter(null, four()), code: "BUFFER", facts: { buffer: "send" } },
  { name: "elements that don't divide", call: (rank) => rank.allToAll(new Float32Array(3), four()), code: "BUFFER", facts: { length: 3 } },
  { name: "a message to itself of another type", call: (rank) => rank.send(four(), 0, { dataType: "int8" }), code: "BUFFER" },
  {
    name: "counts for fewer members",
    call: (rank) => rank.allGatherV(four(), eight, [4]),
    code: "INVALID_ARGUMENT",
    facts: { argument: "counts" },
  },
  { name: "counts that are no list", call: (rank) => rank.allGatherV(four(), eight, untyped(4)), code: "INVALID_ARGUMENT" },
  { name: "a negative count of a member", call: (rank) => rank.gatherV(four(), eight, [4, -4]), code: "INVALID_ARGUMENT" },
  {
    name: "counts whose sum overflows",
    call: (rank) => rank.reduceScatterV(eight, four(), [2 ** 52, 2 ** 52]),
    code: "INVALID_ARGUMENT",
    facts: { argument: "counts" },
  },
  {
    name: "negative displacements",
    call: (rank) => rank.allToAllV(four(), [1, 1], eight, [1, 1], { sendDisplacements: [0, -1] }),
    code: "INVALID_ARGUMENT",
    facts: { argument: "sendDisplacements" },
  },
  { name: "more from itself than it sends", call: (rank) => rank.allToAllV(four(), [1, 1], eight, [2, 1]), code: "INVALID_ARGUMENT" },
  {
    name: "counts beyond the buffer",
    call: (rank) => rank.allToAllV(four(), [1, 5], eight, [1, 1]),
    code: "BUFFER",
    facts: { elements: 6 },
  },
  { name: "uneven buffers that overlap", call: (rank) => rank.allToAllV(eight.subarray(0, 2), [1, 1], eight, [1, 1]), code: "BUFFER" },
  {
    name: "no room for what is gathered unevenly",
    call: (rank) => rank.gatherV(four(), null, [4, 4]),
    code: "BUFFER",
    facts: { buffer: "recv" },
  },
  {
    name: "a colour that is no number",
    call: (_rank, group) => group.split(untyped("red")),
    code: "INVALID_ARGUMENT",
    facts: { argument: "colour" },
  },
  { name: "a key of 33 bits", call: (_rank, group) => group.split(0, 2 ** 32), code: "INVALID_ARGUMENT", facts: { argument: "key" } },
];

describe("without registration", () => {
  it.each(calls)("$name is refused, on this rank alone", async ({ call, code, facts }) => {
    using world = openWorld({ ranks: 2 });
    const rank = rankOf(world, 0);
    const group = rank.group();
    expectFault(await failureOf(call(rank, group)), code, facts);
    expect(rank.pendingRuns).toBe(0);
    // What was refused has had no effect.
    const [x, y] = [Int32Array.of(1), Int32Array.of(2)];
    await Promise.all([rank.allReduce(x), rankOf(world, 1).allReduce(y)]);
    expect([x[0], y[0]]).toEqual([3, 3]);
    group.drop();
  });

  it.each([
    ["without this rank", [1], {}, "ranks"],
    ["of nobody", [], {}, "ranks"],
    ["with a rank twice", [0, 0], {}, "ranks"],
    ["with a rank outside", [0, 2], {}, "ranks"],
    ["of what is no list", "01", {}, "ranks"],
    ["with half a name", [0], { name: 0.5 }, "name"],
    ["with a name of 65 bits", [0], { name: 2n ** 64n }, "name"],
  ])("a group %s is refused", (_, ranks, options, argument) => {
    using world = openWorld({ ranks: 2 });
    expectFault(
      thrownBy(() => rankOf(world, 0).group(untyped(ranks), options)),
      "INVALID_ARGUMENT",
      { argument },
    );
  });
});
