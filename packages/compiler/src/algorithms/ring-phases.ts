import type { ChunkReference, Directive } from "../language/chunk-reference.js";
import type { Language } from "../language/define-program.js";
import { range } from "./options.js";

/** Which of a ring's chunks goes over which channel. */
export type RingDirective = (position: number) => Directive;

/** Every rank of the ring ends up with one reduced share of `count` chunks, in its place of the input. (GC3, Figure 3b) */
export function ringReduceScatter(
  { chunk }: Language,
  ring: readonly number[],
  offset: number,
  count: number,
  directive: RingDirective,
): void {
  const at = (position: number): number => ring[position % ring.length] ?? 0;
  for (const position of range(ring.length)) {
    const index = offset + position * count;
    let c: ChunkReference = chunk(at(position + 1), "input", index, count);
    for (const step of range(ring.length - 1)) c = chunk(at(position + step + 2), "input", index, count).reduce(c, directive(position));
  }
}

/** Every rank's share goes round to all the others. (GC3, Figure 3b) */
export function ringAllGather({ chunk }: Language, ring: readonly number[], offset: number, count: number, directive: RingDirective): void {
  const at = (position: number): number => ring[position % ring.length] ?? 0;
  for (const position of range(ring.length)) {
    const index = offset + position * count;
    let c: ChunkReference = chunk(at(position), "output", index, count);
    for (const step of range(ring.length - 1)) c = c.copy(at(position + step + 1), "output", index, directive(position));
  }
}
