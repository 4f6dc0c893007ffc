import { type LocalChunk, programLimits } from "@dfccl/primitives";
import { GraphEditor } from "./graph-editor.js";
import type { Instruction, InstructionGraph } from "./instruction-graph.js";

/**
 * A row of reductions into the same chunks, and the copy that takes the sum away, become one multiReduceCopy: every operand
 * is read once, in the same order, and partial sums stay in registers.
 */
export function mergeReductions(graph: InstructionGraph): InstructionGraph {
  const editor = new GraphEditor(graph);
  for (const later of graph.instructions) {
    if (later === undefined || (later.op !== "reduce" && later.op !== "copy")) continue;
    // Into what it reduces, or what it copies, is what an earlier reduction may have made.
    const continued = later.op === "reduce" ? later.dst : later.src;
    for (const awaited of graph.before[later.id] ?? []) {
      const earlier = editor.get(awaited);
      const sources = earlier && sourcesOf(earlier);
      if (earlier === undefined || sources === undefined || earlier.count !== later.count || !isSame(earlier.dst, continued)) continue;
      if (!editor.isOnlyStepTo(awaited, later.id)) continue;
      const all = later.op === "reduce" && later.src ? [...sources, later.src] : sources;
      if (all.length > programLimits.references) continue;
      const { id, rank, count, dst } = later;
      editor.take(awaited, {
        id,
        rank,
        count,
        dst,
        op: "multiReduceCopy",
        sources: all,
        operations: [...earlier.operations, ...later.operations],
      });
      break;
    }
  }
  return editor.finish();
}

/** Operands of a reduction within a rank, in order. */
function sourcesOf({ op, src, dst, sources }: Instruction): readonly LocalChunk[] | undefined {
  if (op === "multiReduceCopy") return sources;
  return op === "reduce" && src !== undefined && dst !== undefined ? [dst, src] : undefined;
}

function isSame(a: LocalChunk | undefined, b: LocalChunk | undefined): boolean {
  return a !== undefined && b !== undefined && a.buffer === b.buffer && a.chunk === b.chunk;
}
