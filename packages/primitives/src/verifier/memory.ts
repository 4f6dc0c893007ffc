import { inPlaceShift } from "../in-place.js";
import type { ChunkRef, Program } from "../program.js";

/** How a program is being looked at: with input and output sharing memory, or not. */
export type Mode = "in place" | "out of place";

/** The modes that a program claims to run in. */
export function modesOf(program: Program): Mode[] {
  return [...(program.outOfPlace ? (["out of place"] as const) : []), ...(program.inPlace ? (["in place"] as const) : [])];
}

/** Gives every chunk of memory a number; in place, chunks that share memory get the same one. */
export class MemoryMap {
  private readonly inputChunks: number;
  private readonly outputChunks: number;
  private readonly stride: number;
  /** By rank: output chunk number minus that of the input chunk in the same memory. */
  private readonly shifts: readonly (number | undefined)[];

  constructor(program: Program, mode: Mode) {
    this.inputChunks = program.inputSegments * program.chunksPerSegment;
    this.outputChunks = program.outputSegments * program.chunksPerSegment;
    const mostScratch = program.ranks.reduce((most, { scratchChunks }) => Math.max(most, scratchChunks), 0);
    this.stride = this.inputChunks + this.outputChunks + mostScratch;
    this.shifts = program.ranks.map((_, rank) => (mode === "in place" ? inPlaceShift(program, rank) : undefined));
  }

  cellOf({ rank, buffer, chunk }: ChunkRef): number {
    const base = rank * this.stride;
    if (buffer === "scratch") return base + this.inputChunks + this.outputChunks + chunk;
    const shift = this.shifts[rank];
    if (buffer === "output" || shift === undefined) return base + (buffer === "input" ? 0 : this.inputChunks) + chunk;
    const alias = chunk + shift;
    return alias >= 0 && alias < this.outputChunks ? base + this.inputChunks + alias : base + chunk;
  }

  /** Input chunk that shares memory with this output chunk, if one does. */
  inputUnderOutput(rank: number, outputChunk: number): number | undefined {
    const shift = this.shifts[rank];
    if (shift === undefined) return undefined;
    const chunk = outputChunk - shift;
    return chunk >= 0 && chunk < this.inputChunks ? chunk : undefined;
  }
}
