import type { Op } from "@dfccl/primitives";
import { Contraction } from "./contraction.js";
import { allWaits, type Instruction, type InstructionGraph } from "./instruction-graph.js";
import { Routes } from "./routes.js";

/** A receive and the send that passes on what it made. */
export type FusedPair = `${number} ${number}`;

export interface FusedGraph extends InstructionGraph {
  /** Which messages must use one channel, and which of their ends one block. */
  readonly routes: Routes;
}

/**
 * Joins a receive with a send of what it made, so that data passes through registers: recvCopySend, recvReduceCopySend and,
 * where nobody else reads the result and something overwrites it, recvReduceSend. Of several sends it takes the one with the
 * longest way to go. It doesn't join what a third instruction must run between, nor what directives put on different
 * channels, nor what would tie one end of a connection to two blocks.
 * @param keptApart - pairs not to join.
 * @see GC3, section 4.2
 */
export function fuse(graph: InstructionGraph, keptApart: ReadonlySet<FusedPair> = new Set()): FusedGraph {
  const waits = allWaits(graph);
  const height = longestPaths(waits);
  const sendsOf = forwardingSends(graph);
  const contraction = new Contraction(waits);
  const routes = new Routes(graph.messages);
  const instructions = [...graph.instructions];
  const joined = new Map<number, number>();

  const tryJoin = (receive: Instruction): void => {
    const sends = (sendsOf[receive.id] ?? []).filter(({ id }) => !keptApart.has(`${receive.id} ${id}`));
    sends.sort((a, b) => (height[b.id] ?? 0) - (height[a.id] ?? 0) || a.id - b.id);
    for (const send of sends) {
      if (receive.recv === undefined || send.send === undefined) return;
      if (!routes.mayJoin(receive.rank, receive.recv, send.send)) continue;
      if (!contraction.merge(receive.id, send.id)) continue;
      routes.join(receive.rank, receive.recv, send.send);
      instructions[receive.id] = fused(receive, send, graph);
      instructions[send.id] = undefined;
      joined.set(send.id, receive.id);
      return;
    }
  };
  for (const wanted of ["recvReduceCopy", "recv"] as const) {
    for (const instruction of graph.instructions) if (instruction?.op === wanted) tryJoin(instruction);
  }

  const now = (id: number): number => joined.get(id) ?? id;
  const before: Set<number>[] = graph.before.map(() => new Set());
  graph.before.forEach((awaited, id) => {
    for (const other of awaited) if (now(other) !== now(id)) before[now(id)]?.add(now(other));
  });
  return { ...graph, instructions, before, routes };
}

/** The graph as it is, with every message on its own. */
export function unfused(graph: InstructionGraph): FusedGraph {
  return { ...graph, routes: new Routes(graph.messages) };
}

/** `height[i]`: instructions on the longest way from i to the end. */
function longestPaths(waits: readonly (readonly number[])[]): Int32Array {
  const height = new Int32Array(waits.length);
  // Numbers are in program order, in which everyone comes after all that it waits for.
  for (let id = waits.length - 1; id >= 0; id -= 1) {
    for (const awaited of waits[id] ?? []) height[awaited] = Math.max(height[awaited] ?? 0, (height[id] ?? 0) + 1);
  }
  return height;
}

function forwardingSends(graph: InstructionGraph): Instruction[][] {
  const sends: Instruction[][] = [];
  for (const instruction of graph.instructions) {
    const maker = instruction?.op === "send" ? graph.uses[instruction.id]?.forwards : undefined;
    if (instruction === undefined || maker === undefined) continue;
    if (graph.instructions[maker]?.count === instruction.count) sends[maker] = [...(sends[maker] ?? []), instruction];
  }
  return sends;
}

function fused(receive: Instruction, send: Instruction, graph: InstructionGraph): Instruction {
  const use = graph.uses[receive.id];
  const isPassedOnOnly = use !== undefined && !use.isFinal && use.readers.size === 1;
  const op: Op = receive.op === "recv" ? "recvCopySend" : isPassedOnOnly ? "recvReduceSend" : "recvReduceCopySend";
  return {
    ...receive,
    op,
    dst: op === "recvReduceSend" ? undefined : receive.dst,
    send: send.send,
    fusedFrom: [receive.id, send.id],
    operations: [...receive.operations, ...send.operations],
  };
}
