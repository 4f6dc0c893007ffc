import { isExchange } from "../exchange.js";
import type { ChunkRef, Program } from "../program.js";
import { BadStepError, DataRaceError, formatChunk } from "../program-errors.js";
import type { StepGraph, StepNode } from "./graph.js";
import { HappensBefore } from "./happens-before.js";
import { MemoryMap, type Mode } from "./memory.js";
import { positionOf } from "./messages.js";
import { operandsOf } from "./operands.js";

interface CellHistory {
  lastWrite: number;
  /** Since the last write; at most one for each block. */
  readonly reads: number[];
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
  const exchanges = isExchange(program);
  const cells = new Map<number, CellHistory>();
  new HappensBefore(graph).walk(order, (index, node, isBefore) => {
    const { reads: all, writes } = operandsOf(node.rank, node.content);
    // What an exchange takes from others has been sent, not read from their buffers.
    const reads = exchanges ? all.filter(({ rank }) => rank === node.rank) : all;
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
