import type { StepGraph, StepNode } from "./graph.js";

/**
 * Walks through the steps with a vector clock for each block: `clock[b]` is the number of block b's steps that have
 * certainly finished. Messages and dependencies order steps. Waiting for a free slot orders nothing here, so that the
 * proof also holds for an engine that grants more slots.
 */
export class HappensBefore {
  private readonly clocks: readonly Int32Array[];
  /** Clocks of finished steps that somebody still has to learn about, with the number of those. */
  private readonly published = new Map<number, { clock: Int32Array; readers: number }>();
  private readonly readersOf: Int32Array;

  constructor(private readonly graph: StepGraph) {
    this.clocks = Array.from({ length: graph.threadCount }, () => new Int32Array(graph.threadCount));
    this.readersOf = new Int32Array(graph.nodes.length);
    for (const edges of graph.waits) {
      for (const { awaited, reason } of edges) {
        if (reason === "receives from" || reason === "depends on") this.readersOf[awaited] = (this.readersOf[awaited] ?? 0) + 1;
      }
    }
  }

  /** Visits every node at the moment when it starts. `isBefore(other)`: the other has certainly finished by then. */
  walk(order: Int32Array, visit: (index: number, node: StepNode, isBefore: (other: number) => boolean) => void): void {
    const { nodes } = this.graph;
    for (const index of order) {
      const node = nodes[index];
      const clock = node && this.clocks[node.thread];
      if (node === undefined || clock === undefined) continue;
      this.learn(index, clock);
      visit(index, node, (other) => {
        const otherNode = nodes[other];
        return otherNode !== undefined && (clock[otherNode.thread] ?? 0) > otherNode.step;
      });
      clock[node.thread] = node.step + 1;
      const readers = this.readersOf[index] ?? 0;
      if (readers > 0) this.published.set(index, { clock: clock.slice(), readers });
    }
  }

  /** After {@link walk}: how many steps of one block have finished by the end of another. */
  stepsKnownAtEnd(thread: number, of: number): number {
    return this.clocks[thread]?.[of] ?? 0;
  }

  private learn(index: number, clock: Int32Array): void {
    for (const { awaited, reason } of this.graph.waits[index] ?? []) {
      if (reason !== "receives from" && reason !== "depends on") continue;
      const known = this.published.get(awaited);
      if (known === undefined) continue;
      known.clock.forEach((steps, thread) => {
        if (steps > (clock[thread] ?? 0)) clock[thread] = steps;
      });
      known.readers -= 1;
      if (known.readers === 0) this.published.delete(awaited);
    }
  }
}
