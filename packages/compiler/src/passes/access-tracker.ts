import type { BufferKind } from "@dfccl/primitives";
import type { Span } from "../language/span.js";

interface CellHistory {
  writer: number | undefined;
  /** Since the last write. */
  readonly readers: number[];
}

/** Remembers who accessed each place last, and so whom an access must come after. Accesses are told in program order. */
export class AccessTracker {
  private readonly cells: Record<BufferKind, CellHistory[]>[] = [];

  /** Who wrote a place last; undefined before the first write. */
  writerOf(rank: number, buffer: BufferKind, index: number): number | undefined {
    return this.cells[rank]?.[buffer][index]?.writer;
  }

  /** @returns whom the reader must come after: those who wrote what it reads. */
  read(reader: number, span: Span): Set<number> {
    const after = new Set<number>();
    this.forEach(span, (cell) => {
      if (cell.writer !== undefined) after.add(cell.writer);
      if (cell.readers.at(-1) !== reader) cell.readers.push(reader);
    });
    after.delete(reader);
    return after;
  }

  /** @returns whom the writer must come after: those who still read what it overwrites or, without any, who wrote it. */
  write(writer: number, span: Span): Set<number> {
    const after = new Set<number>();
    this.forEach(span, (cell) => {
      if (cell.readers.length > 0) for (const reader of cell.readers) after.add(reader);
      else if (cell.writer !== undefined) after.add(cell.writer);
      cell.writer = writer;
      cell.readers.length = 0;
    });
    after.delete(writer);
    return after;
  }

  private forEach({ rank, buffer, index, count }: Span, visit: (cell: CellHistory) => void): void {
    let buffers = this.cells[rank];
    if (buffers === undefined) {
      buffers = { input: [], output: [], scratch: [] };
      this.cells[rank] = buffers;
    }
    for (let at = index; at < index + count; at += 1) {
      let cell = buffers[buffer][at];
      if (cell === undefined) {
        cell = { writer: undefined, readers: [] };
        buffers[buffer][at] = cell;
      }
      visit(cell);
    }
  }
}
