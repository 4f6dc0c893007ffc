import { CyclicProgramError, type StepPosition, type Wait } from "../program-errors.js";
import type { StepGraph, WaitEdge } from "./graph.js";
import { positionOf } from "./messages.js";

/**
 * Every node after all that it waits for.
 * @throws {CyclicProgramError} with the shortest cycle, if there is no such order.
 */
export function topologicalOrder(graph: StepGraph, slotCount: number): Int32Array {
  const { nodes, waits } = graph;
  const openWaits = Int32Array.from(waits, (edges) => edges.length);
  const waiters = waitersOf(graph);
  const order = new Int32Array(nodes.length);
  let known = 0;
  openWaits.forEach((open, node) => {
    if (open === 0) order[known++] = node;
  });
  for (let done = 0; done < known; done += 1) {
    for (const waiter of waiters[order[done] ?? 0] ?? []) {
      const left = (openWaits[waiter] ?? 0) - 1;
      openWaits[waiter] = left;
      if (left === 0) order[known++] = waiter;
    }
  }
  if (known < nodes.length) {
    const isStuck = (node: number): boolean => (openWaits[node] ?? 0) > 0;
    throw new CyclicProgramError(shortestCycle(graph, isStuck), slotCount);
  }
  return order;
}

function waitersOf({ waits }: StepGraph): number[][] {
  const waiters: number[][] = waits.map(() => []);
  waits.forEach((edges, waiter) => {
    for (const { awaited } of edges) waiters[awaited]?.push(waiter);
  });
  return waiters;
}

/** Breadth-first from every stuck node back to itself, never further than the shortest cycle so far. */
function shortestCycle({ nodes, waits }: StepGraph, isStuck: (node: number) => boolean): Wait[] {
  let best: Wait[] = [];
  const cameFrom = new Int32Array(nodes.length);
  const seenBy = new Int32Array(nodes.length).fill(-1);
  for (let start = 0; start < nodes.length; start += 1) {
    if (!isStuck(start)) continue;
    let frontier = [start];
    let closing = -1;
    for (let length = 1; frontier.length > 0 && closing < 0 && (best.length === 0 || length < best.length); length += 1) {
      const next: number[] = [];
      for (const node of frontier) {
        for (const { awaited } of waits[node] ?? []) {
          if (awaited === start) closing = node;
          if (seenBy[awaited] === start || !isStuck(awaited)) continue;
          seenBy[awaited] = start;
          cameFrom[awaited] = node;
          next.push(awaited);
        }
      }
      frontier = next;
    }
    if (closing >= 0) best = pathOf(start, closing);
  }
  return best;

  function pathOf(start: number, last: number): Wait[] {
    const path = [start];
    for (let node = last; node !== start; node = cameFrom[node] ?? start) path.splice(1, 0, node);
    return path.map((waiter, index) => {
      const awaited = path[(index + 1) % path.length] ?? start;
      const edge: WaitEdge | undefined = waits[waiter]?.find((candidate) => candidate.awaited === awaited);
      return { waiter: position(waiter), reason: edge?.reason ?? "depends on", awaited: position(awaited) };
    });
  }

  function position(node: number): StepPosition {
    const found = nodes[node];
    return found === undefined ? { rank: 0, block: 0, step: 0 } : positionOf(found);
  }
}
