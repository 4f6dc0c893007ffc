import type { Program, Step } from "../program.js";
import type { StepPosition, WaitReason } from "../program-errors.js";
import { matchMessages } from "./messages.js";

/** A step in the graph. Its number is its index in `StepGraph.nodes`. */
export interface StepNode extends StepPosition {
  readonly content: Step;
  /** Number of its block among all blocks of all ranks. */
  readonly thread: number;
}

/** `awaited` must have finished before the step may start. */
export interface WaitEdge {
  readonly awaited: number;
  readonly reason: WaitReason;
}

/**
 * What waits for what during one run of the step lists. One run is enough: a step of one tile only ever waits for steps
 * of the same tile or of earlier ones, so whoever waits in a circle does so within one tile.
 */
export interface StepGraph {
  readonly nodes: readonly StepNode[];
  readonly threadCount: number;
  /** `waits[node]`: everything that the node waits for. */
  readonly waits: readonly (readonly WaitEdge[])[];
  /** `messageOf[node]`: the node whose message it receives, or -1. */
  readonly messageOf: Int32Array;
  readonly connectionCount: number;
}

/** @throws as {@link matchMessages} does. */
export function buildGraph(program: Program): StepGraph {
  const nodes: StepNode[] = [];
  const waits: WaitEdge[][] = [];
  const firstNode: number[][] = [];
  let thread = 0;
  program.ranks.forEach(({ blocks }, rank) => {
    const first: number[] = [];
    blocks.forEach(({ steps }, block) => {
      first.push(nodes.length);
      steps.forEach((content, step) => {
        waits.push(step === 0 ? [] : [{ awaited: nodes.length - 1, reason: "comes after" }]);
        nodes.push({ rank, block, step, content, thread });
      });
      thread += 1;
    });
    firstNode.push(first);
  });
  const nodeOf = ({ rank, block, step }: StepPosition): number => (firstNode[rank]?.[block] ?? 0) + step;

  nodes.forEach(({ rank, content }, node) => {
    for (const { block, step } of content.dependsOn ?? []) {
      waits[node]?.push({ awaited: nodeOf({ rank, block, step }), reason: "depends on" });
    }
  });
  const messageOf = new Int32Array(nodes.length).fill(-1);
  const connections = matchMessages(program);
  for (const { sends, recvs } of connections) {
    recvs.forEach((recv, index) => {
      const sent = sends[index];
      if (sent === undefined) return;
      messageOf[nodeOf(recv)] = nodeOf(sent);
      waits[nodeOf(recv)]?.push({ awaited: nodeOf(sent), reason: "receives from" });
      const refilled = sends[index + program.slotCount];
      if (refilled !== undefined) waits[nodeOf(refilled)]?.push({ awaited: nodeOf(recv), reason: "needs a slot freed by" });
    });
  }
  return { nodes, threadCount: thread, waits, messageOf, connectionCount: connections.length };
}
