import type { ChunkRef, Program } from "../program.js";
import { BadStepError, BarrierError, DataRaceError, formatChunk } from "../program-errors.js";
import type { StepGraph, StepNode } from "./graph.js";
import { MemoryMap, type Mode } from "./memory.js";
import { positionOf } from "./messages.js";
import { operandsOf } from "./operands.js";

interface CellHistory {
  lastWrite: number;
  /** Since the last write; at most one for each block. */
  readonly reads: number[];
}

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

/**
 * Any two accesses to one chunk, of which at least one writes, must be ordered. Ranks see each other's buffers during
 * the whole run (the engine shows them at submission and takes them back after all have finished), so only messages and
 * dependencies order anything.
 * @throws {DataRaceError} for the first pair that isn't.
 * @throws {BadStepError} if one step reads and writes overlapping but different ranges.
 */
export function checkRaces(program: Program, graph: StepGraph, order: Int32Array, mode: Mode): void {
  const memory = new MemoryMap(program, mode);
  const cells = new Map<number, CellHistory>();
  new HappensBefore(graph).walk(order, (index, node, isBefore) => {
    const { reads, writes } = operandsOf(node.rank, node.content);
    checkOverlap(memory, node, reads, writes);
    const access = (refs: readonly ChunkRef[], isWrite: boolean): void => {
      for (const first of refs) {
        for (let chunk = first.chunk; chunk < first.chunk + node.content.count; chunk += 1) {
          const ref = { ...first, chunk };
          const cell = memory.cellOf(ref);
          const history = cells.get(cell) ?? { lastWrite: -1, reads: [] };
          cells.set(cell, history);
          const racing = conflict(history, isWrite, (other) => other === index || isBefore(other));
          if (racing !== undefined) throw race(graph, mode, node, racing, history, ref, isWrite);
          record(graph, history, index, node, isWrite);
        }
      }
    };
    access(reads, false);
    access(writes, true);
  });
}

/** The earlier access that nothing orders before this one. */
function conflict(history: CellHistory, isWrite: boolean, isOrdered: (other: number) => boolean): number | undefined {
  if (history.lastWrite >= 0 && !isOrdered(history.lastWrite)) return history.lastWrite;
  return isWrite ? history.reads.find((read) => !isOrdered(read)) : undefined;
}

function record(graph: StepGraph, history: CellHistory, index: number, node: StepNode, isWrite: boolean): void {
  if (isWrite) {
    history.lastWrite = index;
    history.reads.length = 0;
    return;
  }
  const earlier = history.reads.findIndex((read) => graph.nodes[read]?.thread === node.thread);
  if (earlier >= 0) history.reads[earlier] = index;
  else history.reads.push(index);
}

function race(
  graph: StepGraph,
  mode: Mode,
  node: StepNode,
  racing: number,
  history: CellHistory,
  ref: ChunkRef,
  isWrite: boolean,
): DataRaceError {
  const other = graph.nodes[racing] ?? node;
  const kinds = `${isWrite ? "write" : "read"} against ${racing === history.lastWrite ? "write" : "read"}`;
  return new DataRaceError(positionOf(node), positionOf(other), formatChunk(ref.rank, ref), kinds, mode);
}

/** A step works on its chunks in no particular order, so chunk i of what it writes may only be chunk i of what it reads. */
function checkOverlap(memory: MemoryMap, node: StepNode, reads: readonly ChunkRef[], writes: readonly ChunkRef[]): void {
  const { count } = node.content;
  if (count * writes.length <= 1) return;
  const written = new Map<number, number>();
  const forEachChunk = (refs: readonly ChunkRef[], visit: (cell: number, offset: number, ref: ChunkRef) => void): void => {
    for (const first of refs) {
      for (let offset = 0; offset < count; offset += 1) {
        const ref = { ...first, chunk: first.chunk + offset };
        visit(memory.cellOf(ref), offset, ref);
      }
    }
  };
  const refuse = (what: string, ref: ChunkRef): never => {
    throw new BadStepError(positionOf(node), `it ${what} ${formatChunk(ref.rank, ref)}.`, "Let its ranges be equal or apart.");
  };
  forEachChunk(writes, (cell, offset, ref) => {
    if (written.has(cell)) refuse("twice writes", ref);
    written.set(cell, offset);
  });
  forEachChunk(reads, (cell, offset, ref) => {
    const writtenAs = written.get(cell);
    if (writtenAs !== undefined && writtenAs !== offset) refuse("reads and, for another chunk, writes", ref);
  });
}

/**
 * A barrier without direct access consists of its signals: every rank must have heard of every other.
 * @throws {BarrierError} for a rank that can leave too early.
 */
export function checkBarrier(program: Program, graph: StepGraph, order: Int32Array): void {
  if (program.usesDirect) return;
  const relation = new HappensBefore(graph);
  relation.walk(order, () => {});
  const threadsOf = program.ranks.map(() => [] as number[]);
  let thread = 0;
  program.ranks.forEach(({ blocks }, rank) => {
    for (let block = 0; block < blocks.length; block += 1) threadsOf[rank]?.push(thread++);
  });
  threadsOf.forEach((own, rank) => {
    threadsOf.forEach((others, other) => {
      const isKnown = own.some((at) => others.some((of) => relation.stepsKnownAtEnd(at, of) > 0));
      if (rank !== other && !isKnown) throw new BarrierError(rank, other);
    });
  });
}
