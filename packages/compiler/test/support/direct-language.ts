import type { BufferKind, InputTerm, Postcondition } from "@dfccl/primitives";

type Terms = readonly InputTerm[];

/** What a chunk reference needs to be for a random program. */
export interface DirectReference {
  copy(rank: number, buffer: BufferKind, index: number): DirectReference;
  reduce(other: DirectReference): DirectReference;
  readonly terms: readonly Terms[];
}

/**
 * The meaning of the language, operation by operation in the order of the program, on lists of input chunks: knows nothing of
 * dependencies, messages or blocks. What the compiler makes is compared with it.
 */
export class DirectLanguage {
  private readonly cells = new Map<string, Terms>();

  constructor(readonly ranks: number) {}

  chunk(rank: number, buffer: BufferKind, index: number, count: number): DirectReference {
    const terms = Array.from({ length: count }, (_, i) => this.read(rank, buffer, index + i));
    return {
      terms,
      copy: (toRank, toBuffer, toIndex) => {
        for (const [i, list] of terms.entries()) this.cells.set(`${toRank} ${toBuffer} ${toIndex + i}`, list);
        return this.chunk(toRank, toBuffer, toIndex, count);
      },
      reduce: (other) => {
        for (const [i, list] of terms.entries()) this.cells.set(`${rank} ${buffer} ${index + i}`, [...list, ...(other.terms[i] ?? [])]);
        return this.chunk(rank, buffer, index, count);
      },
    };
  }

  parallelize(_: number, body: () => void): void {
    body();
  }

  /** What every output holds now. */
  postcondition(): Postcondition {
    const cells = new Map(this.cells);
    return (rank, chunk) => cells.get(`${rank} output ${chunk}`);
  }

  private read(rank: number, buffer: BufferKind, index: number): Terms {
    const terms = this.cells.get(`${rank} ${buffer} ${index}`);
    if (terms !== undefined) return terms;
    if (buffer !== "input") throw new Error(`${buffer}[${index}] of rank ${rank} holds nothing`);
    return [{ rank, chunk: index }];
  }
}
