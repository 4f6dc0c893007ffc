import { AccessTracker } from "./access-tracker.js";
import type { ChunkOperation, ReplicatedTrace } from "./replicate.js";

export interface ChunkEdge {
  readonly from: number;
  readonly to: number;
  /** "data": the one reads what the other made. "reuse": it overwrites what the other needed. */
  readonly kind: "data" | "reuse";
}

/** Operations, numbered in program order, and what each waits for. */
export interface ChunkDag {
  readonly operations: readonly ChunkOperation[];
  readonly edges: readonly ChunkEdge[];
}

/**
 * Which operation depends on which: the whole parallelism of the program.
 * @see GC3, section 4.1
 */
export function buildChunkDag({ operations }: ReplicatedTrace): ChunkDag {
  const tracker = new AccessTracker();
  const edges: ChunkEdge[] = [];
  operations.forEach(({ kind, src, dst }, to) => {
    const data = tracker.read(to, src);
    if (kind === "reduce") for (const from of tracker.read(to, dst)) data.add(from);
    for (const from of data) edges.push({ from, to, kind: "data" });
    for (const from of tracker.write(to, dst)) if (!data.has(from)) edges.push({ from, to, kind: "reuse" });
  });
  return { operations, edges };
}
