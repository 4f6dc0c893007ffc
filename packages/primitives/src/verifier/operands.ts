import { opShapeOf } from "../op.js";
import type { ChunkRef, LocalChunk, Step } from "../program.js";

/** What a step reads and writes in any rank's memory; each entry is the first of `step.count` chunks. */
export interface Operands {
  readonly reads: readonly ChunkRef[];
  readonly writes: readonly ChunkRef[];
}

/** Operands of a step that is known to be well formed. Payload in connection slots isn't memory in this sense. */
export function operandsOf(rank: number, step: Step): Operands {
  const reads: ChunkRef[] = [];
  const writes: ChunkRef[] = [];
  const add = (list: ChunkRef[], chunk: LocalChunk | undefined, owner: number): void => {
    if (chunk !== undefined) list.push({ rank: owner, buffer: chunk.buffer, chunk: chunk.chunk });
  };
  if (step.op === "reduce") add(reads, step.dst, rank);
  add(reads, step.src, rank);
  add(reads, step.recv?.landing, rank);
  reads.push(...(step.sources ?? []));
  add(writes, step.dst, rank);
  if (step.send !== undefined) add(writes, step.send.remote, step.send.peer);
  writes.push(...(step.destinations ?? []));
  return { reads, writes };
}

/** How many values a step combines into its result; 1 is a copy. */
export function operandCount(step: Step): number {
  if (step.op === "multiReduceCopy") return step.sources?.length ?? 0;
  return opShapeOf(step.op).reduces ? 2 : 1;
}
