import type { BufferKind, Collective, Op, Protocol } from "@dfccl/primitives";

// MSCCL's words for what dfccl has.

export const protocolOf: Readonly<Record<string, Protocol>> = { simple: "simple", ll: "ll", ll128: "ll128" };
export const protocolName: Readonly<Record<Protocol, string>> = { simple: "Simple", ll: "LL", ll128: "LL128" };

/** Sends that a connection of the original runtime takes before a receive. */
export const originalSlots: Readonly<Record<Protocol, number>> = { simple: 2, ll: 8, ll128: 8 };

export type XmlCollective = Extract<
  Collective,
  "all-reduce" | "all-gather" | "reduce" | "broadcast" | "all-to-all" | "reduce-scatter" | "custom"
>;

export const collectiveOf: Readonly<Record<string, XmlCollective>> = {
  allreduce: "all-reduce",
  allgather: "all-gather",
  reduce: "reduce",
  broadcast: "broadcast",
  alltoall: "all-to-all",
  reduce_scatter: "reduce-scatter",
  custom: "custom",
};

export function collectiveName(collective: Collective): string | undefined {
  return Object.keys(collectiveOf).find((name) => collectiveOf[name] === collective);
}

export const bufferOf: Readonly<Record<string, BufferKind>> = { i: "input", o: "output", s: "scratch" };
export const bufferName: Readonly<Record<BufferKind, string>> = { input: "i", output: "o", scratch: "s" };

export const opOf = {
  s: "send",
  r: "recv",
  rcs: "recvCopySend",
  rrs: "recvReduceSend",
  rrc: "recvReduceCopy",
  rrcs: "recvReduceCopySend",
  cpy: "copy",
  re: "reduce",
  nop: "nop",
} as const satisfies Readonly<Record<string, Op>>;

export function opName(op: Op): string | undefined {
  return Object.entries(opOf).find(([, known]) => known === op)?.[0];
}

/** What the original runtime can hold. */
export const originalLimits = { steps: 256, blocks: 216, channels: 32, count: 71 } as const;
