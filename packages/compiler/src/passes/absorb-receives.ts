import { GraphEditor } from "./graph-editor.js";
import type { InstructionGraph } from "./instruction-graph.js";

/**
 * A receive whose data is only there to have something else reduced into it becomes one recvReduceCopy: two operands may
 * change sides without changing a bit. Programs that gather a reduction in scratch chunks, because they can't write the
 * input, so lose their second pass over the data.
 */
export function absorbReceives(graph: InstructionGraph): InstructionGraph {
  const editor = new GraphEditor(graph);
  for (const reduction of graph.instructions) {
    if (reduction?.op !== "reduce" || reduction.dst === undefined) continue;
    const { id, dst, src } = reduction;
    for (const awaited of graph.before[id] ?? []) {
      const receive = editor.get(awaited);
      if (receive?.op !== "recv" || receive.count !== reduction.count) continue;
      if (receive.dst?.buffer !== dst.buffer || receive.dst.chunk !== dst.chunk || !editor.isOnlyStepTo(awaited, id)) continue;
      const operations = [...receive.operations, ...reduction.operations];
      editor.take(awaited, { ...reduction, op: "recvReduceCopy", src, recv: receive.recv, operations });
      break;
    }
  }
  return editor.finish();
}
