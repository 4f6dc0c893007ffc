import type { OptionNames } from "@dfccl/primitives";
import type { CallOptions, Counts, DisplacementsOption, InGroup, IntoOption, OpOption, RootOption, UnevenOptions } from "./group-api.js";

export type AllToAllVOptions = UnevenOptions & { readonly sendDisplacements?: Counts; readonly recvDisplacements?: Counts };

const call = { tag: true, timeoutMs: true, group: true } as const;
const even = { ...call, dataType: true, count: true } as const;
const uneven = { ...call, dataType: true } as const;
/** The options that each kind of call takes. */
export const callOptions = {
  barrier: call satisfies OptionNames<Omit<CallOptions, "dataType" | "count"> & InGroup>,
  plain: even satisfies OptionNames<CallOptions & InGroup>,
  allReduce: { ...even, op: true, into: true } satisfies OptionNames<CallOptions & OpOption & IntoOption & InGroup>,
  reduce: { ...even, op: true, root: true, into: true } satisfies OptionNames<CallOptions & OpOption & RootOption & IntoOption & InGroup>,
  broadcast: { ...even, root: true, into: true } satisfies OptionNames<CallOptions & RootOption & IntoOption & InGroup>,
  combining: { ...even, op: true } satisfies OptionNames<CallOptions & OpOption & InGroup>,
  rooted: { ...even, root: true } satisfies OptionNames<CallOptions & RootOption & InGroup>,
  allToAllV: { ...uneven, sendDisplacements: true, recvDisplacements: true } satisfies OptionNames<AllToAllVOptions & InGroup>,
  allGatherV: { ...uneven, displacements: true } satisfies OptionNames<UnevenOptions & DisplacementsOption & InGroup>,
  reduceScatterV: { ...uneven, op: true } satisfies OptionNames<UnevenOptions & OpOption & InGroup>,
  rootedV: { ...uneven, displacements: true, root: true } satisfies OptionNames<UnevenOptions & DisplacementsOption & RootOption & InGroup>,
};
