import type { ChunkRef, LocalChunk, Op } from "@dfccl/primitives";

/** A message from one rank to another; its two ends are instructions. */
export interface Message {
  readonly id: number;
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** The user's directive. */
  readonly directive: number | undefined;
  readonly part: number;
}

/** What one block of one rank executes in one go. */
export interface Instruction {
  readonly id: number;
  readonly rank: number;
  readonly op: Op;
  readonly count: number;
  readonly src?: LocalChunk | undefined;
  readonly dst?: LocalChunk | undefined;
  /** Of multiReduceCopy, all on this rank. */
  readonly sources?: readonly LocalChunk[] | undefined;
  /** Of a direct multiReduceCopy: places of any rank, in place of `sources` and `dst`. */
  readonly direct?: { readonly sources: readonly ChunkRef[]; readonly destinations: readonly ChunkRef[] } | undefined;
  /** Message that it receives. */
  readonly recv?: number | undefined;
  /** Message that it sends. */
  readonly send?: number | undefined;
  /** The receive and the send that it was fused from. */
  readonly fusedFrom?: readonly [receive: number, send: number] | undefined;
  /** Chunk operations that it carries out, by number; none where the compiler added it. */
  readonly operations: readonly number[];
}

/** What fusing needs to know about an instruction's result. */
export interface ResultUse {
  /** Instructions that read some of it. */
  readonly readers: Set<number>;
  /** Some of it is part of the final output. */
  isFinal: boolean;
  /** For a send: the instruction that made exactly what it sends. */
  forwards: number | undefined;
}

/**
 * Instructions of all ranks and what each waits for: "processing" edges within a rank and, from a send to its receive,
 * "communication" edges. Passes hand on new graphs; nothing changes one that has been handed on.
 */
export interface InstructionGraph {
  /** By number; undefined where fusing left a hole. Numbers are in program order. */
  readonly instructions: readonly (Instruction | undefined)[];
  readonly messages: readonly Message[];
  /** `before[i]`: the instructions of i's rank that i waits for. */
  readonly before: readonly ReadonlySet<number>[];
  readonly uses: readonly ResultUse[];
  readonly ranks: number;
}

/** By message: the instructions at its ends. */
export interface MessageEnds {
  readonly senders: readonly number[];
  readonly receivers: readonly number[];
}

export function messageEndsOf(graph: InstructionGraph): MessageEnds {
  const senders: number[] = [];
  const receivers: number[] = [];
  for (const instruction of graph.instructions) {
    if (instruction?.send !== undefined) senders[instruction.send] = instruction.id;
    if (instruction?.recv !== undefined) receivers[instruction.recv] = instruction.id;
  }
  return { senders, receivers };
}

/** `waits[i]`: everything that instruction i waits for, on its own rank and, through a message, on another. */
export function allWaits(graph: InstructionGraph): number[][] {
  const { senders } = messageEndsOf(graph);
  return graph.instructions.map((instruction, id) => {
    const waits = [...(graph.before[id] ?? [])];
    const sender = instruction?.recv === undefined ? undefined : senders[instruction.recv];
    if (sender !== undefined) waits.push(sender);
    return waits;
  });
}

/** The reverse of waits: who waits for each. */
export function reversed(waits: readonly (readonly number[])[]): number[][] {
  const waiters: number[][] = waits.map(() => []);
  waits.forEach((list, waiter) => {
    for (const awaited of list) waiters[awaited]?.push(waiter);
  });
  return waiters;
}
