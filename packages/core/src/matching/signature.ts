import { type Collective, collectiveCode, type DataType, dataTypeCode, type ReduceOp, reduceOpCode } from "@dfccl/primitives";
import { type NativeId, nativeAddon } from "../native-addon/native-world.js";
import type { Tag } from "./group-api.js";

/** What a run is part of, in the order of the codes (`Purpose` in native/src/world/signature_facts.hpp). Different ones never match. */
export const purposes = [
  "collective",
  "point-to-point",
  "split",
  "all-to-all-v",
  "all-gather-v",
  "reduce-scatter-v",
  "gather-v",
  "scatter-v",
] as const;
export type Purpose = (typeof purposes)[number];

/** All that the ranks of a run have to agree on, beside the group. */
export interface Signature {
  readonly purpose: Purpose;
  readonly collective: Exclude<Collective, "custom">;
  readonly dataType: DataType;
  readonly op: ReduceOp;
  /** Place in the group: of the root, or the sender. 0 where there is none. */
  readonly root: number;
  /** Place in the group, of a send; else 0. */
  readonly receiver: number;
  readonly count: number;
  /** A number wherever one holds it. */
  readonly tag: Tag;
  /** {@link hashOfCounts} of an uneven collective whose members all know all counts; else 0. */
  readonly countsHash: number;
}

/** As native/src/matching/signature.cpp has it. */
function mix32(word: number): number {
  let z = Math.imul(word ^ (word >>> 16), 0x7feb352d);
  z = Math.imul(z ^ (z >>> 15), 0x846ca68b);
  return z ^ (z >>> 16);
}

const TWO_TO_32 = 2 ** 32;
const increment = 0x9e3779b1;

/**
 * Of each member's count, what the parts of an uneven collective match by: two whose members agree on one count alone would exchange that
 * segment otherwise. The number of 53 bits that `hashOfCounts` of native/src/matching/signature.hpp gives.
 */
export function hashOfCounts(spans: readonly { readonly count: number }[]): number {
  let [low, high] = [0x6466636c, 0x636f756e];
  for (const { count } of spans) {
    const [lower, upper] = [count | 0, (count / TWO_TO_32) | 0];
    low = mix32((mix32((low + lower) | 0) + upper) | 0);
    high = mix32(((mix32(((high ^ lower) + increment) | 0) ^ upper) + increment) | 0);
  }
  return (high & 0x1fffff) * TWO_TO_32 + (low >>> 0);
}

/** The 128 bits that stand for a signature; C++ computes them, for JavaScript as for C. */
export function idOf(signature: Signature, group: NativeId): NativeId {
  const { purpose, collective, dataType, op, root, receiver, count, tag, countsHash } = signature;
  return nativeAddon().signatureId({
    group,
    purpose: purposes.indexOf(purpose),
    collective: collectiveCode(collective),
    dataType: dataTypeCode(dataType),
    op: reduceOpCode(op),
    root,
    receiver,
    count,
    tag: BigInt(tag),
    countsHash,
  });
}
