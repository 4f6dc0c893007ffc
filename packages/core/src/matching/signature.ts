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
}

/** The 128 bits that stand for a signature; C++ computes them, for JavaScript as for C. */
export function idOf(signature: Signature, group: NativeId): NativeId {
  const { purpose, collective, dataType, op, root, receiver, count, tag } = signature;
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
  });
}
