// By what ranks match: C++ computes it for C and for JavaScript, so a rank of either finds those of the other.
import { collectiveCode, dataTypeCode, reduceOpCode } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { hashOfCounts, idOf, type Purpose, purposes, type Signature } from "../../src/matching/signature.js";
import { nativeAddon } from "../../src/native-addon/native-world.js";
import { untyped } from "../support/faults.js";

const addon = nativeAddon();
const group = addon.groupId(Uint32Array.of(3, 1, 2), 7n, 2n);
const signature: Signature = {
  purpose: "point-to-point",
  collective: "send-recv",
  dataType: "float32",
  op: "sum",
  root: 2,
  receiver: 1,
  count: 2 ** 40 + 3,
  tag: 2n ** 63n + 5n,
  countsHash: 0,
};

describe("a signature's id", () => {
  // From another version on it may be another one: then the ranks of the two don't match, and joining must refuse it.
  it("is the known one, as that of its group", () => {
    expect(group).toEqual({ high: 0xd2f0ea798d861662n, low: 0xc1a43bd0a304600bn });
    expect(addon.nameOfPart(group, 5, 9)).toBe(0x81b3b58605894a78n);
    expect(idOf(signature, group)).toEqual({ high: 0xd3478870601e9287n, low: 0xac99ddfb938bfaf7n });
  });

  it("is made of all that it consists of", () => {
    const others: Partial<Signature>[] = [
      { purpose: "all-to-all-v" },
      { collective: "broadcast" },
      { dataType: "int32" },
      { op: "max" },
      { root: 1 },
      { receiver: 2 },
      { count: 3 },
      { tag: 5 },
      { countsHash: 5 },
    ];
    const ids = [signature, ...others.map((other) => ({ ...signature, ...other }))].map((one) => JSON.stringify(idOf(one, group), text));
    ids.push(JSON.stringify(idOf(signature, addon.groupId(Uint32Array.of(3, 1, 2), 7n, 3n)), text));
    expect(new Set(ids).size).toBe(others.length + 2);
  });

  it("takes a purpose's code from the order that C++ has", () => {
    expect(purposes.map((purpose: Purpose) => purposes.indexOf(purpose))).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    const [collective, dataType, op] = [collectiveCode("send-recv"), dataTypeCode("float32"), reduceOpCode("sum")];
    const codes = {
      group,
      collective,
      dataType,
      op,
      root: 2,
      receiver: 1,
      count: signature.count,
      tag: BigInt(signature.tag),
      countsHash: 0,
    };
    expect(addon.signatureId({ ...codes, purpose: 1 })).toEqual(idOf(signature, group));
    expect(() => addon.signatureId({ ...codes, purpose: purposes.length })).toThrow("purpose");
  });
});

it("a list of counts has the hash that C computes", () => {
  const listOf = (...counts: readonly number[]): { readonly count: number }[] => counts.map((count) => ({ count }));
  expect(hashOfCounts(listOf(3, 5, 2 ** 46 - 1, 2 ** 31))).toBe(8170738381006463);
  const lists = [[], [0], [3, 5], [5, 3], [3, 7], [2 ** 52, 5], [2 ** 52 + 1, 5], [2 ** 52, 2 ** 52]];
  expect(new Set(lists.map((counts) => hashOfCounts(listOf(...counts)))).size).toBe(lists.length);
});

it("the addon refuses what is no signature", () => {
  const { high } = group;
  const good = { group, purpose: 0, collective: 0, dataType: 0, op: 0, root: 0, receiver: 0, count: 1, tag: 0n, countsHash: 0 };
  const wrong: readonly (() => unknown)[] = [
    () => addon.signatureId(untyped(undefined)),
    () => addon.signatureId({ ...good, group: untyped({ high, low: 5 }) }),
    () => addon.signatureId({ ...good, tag: untyped(5) }),
    () => addon.signatureId({ ...good, tag: 2n ** 64n }),
    () => addon.signatureId({ ...good, tag: -1n }),
    () => addon.signatureId({ ...good, count: -1 }),
    () => addon.signatureId({ ...good, count: 2 ** 53 }),
    () => addon.signatureId({ ...good, collective: 11 }),
    () => addon.signatureId({ ...good, countsHash: 2 ** 53 }),
    () => addon.signatureId({ ...good, countsHash: untyped(undefined) }),
    () => addon.signatureId({ ...good, dataType: 0.5 }),
    () => addon.groupId(untyped([0, 1]), 0n, 1n),
    () => addon.groupId(Uint32Array.of(0), untyped(0), 1n),
    () => addon.nameOfPart(untyped(5), 1, 1),
    () => addon.nameOfPart(group, -1, 1),
  ];
  for (const act of wrong) expect(act, String(act)).toThrow();
});

const text = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
