import type { Dependency } from "@dfccl/primitives";
import type { InstructionGraph } from "./instruction-graph.js";
import type { Placement } from "./schedule.js";

/**
 * Which steps of other blocks each instruction must await: of every block the latest, and none that an earlier wait
 * implies.
 * @param order - all instructions, each after all that it waits for.
 * @returns by instruction.
 * @see GC3, section 5.2
 */
export function synchronize(
  graph: InstructionGraph,
  order: readonly number[],
  placements: readonly (Placement | undefined)[],
): readonly (readonly Dependency[])[] {
  const awaits: Dependency[][] = [];
  // `known[rank][block][other]`: how many steps of the other block have finished before the block's next step.
  const known: number[][][] = Array.from({ length: graph.ranks }, () => []);
  const knownAfter: (readonly number[])[] = [];
  for (const id of order) {
    const rank = graph.instructions[id]?.rank ?? 0;
    const place = placements[id];
    if (place === undefined) continue;
    const blocks = known[rank] ?? [];
    const mine = blocks[place.block] ?? [];
    blocks[place.block] = mine;
    const before = [...(graph.before[id] ?? [])]
      .map((other) => ({ other, at: placements[other] }))
      .filter(({ at }) => at !== undefined && at.block !== place.block)
      // Later steps first: what they know makes earlier ones needless.
      .sort((a, b) => (b.at?.step ?? 0) - (a.at?.step ?? 0) || (a.at?.block ?? 0) - (b.at?.block ?? 0));
    const needed: { other: number; at: Placement }[] = [];
    for (const { other, at } of before) {
      if (at === undefined || (mine[at.block] ?? 0) > at.step) continue;
      needed.push({ other, at });
      (knownAfter[other] ?? []).forEach((steps, block) => {
        if (steps > (mine[block] ?? 0)) mine[block] = steps;
      });
    }
    // A wait may have become needless by one that came after it in the list.
    const kept = needed.filter(
      ({ other, at }) => !needed.some((rival) => rival.other !== other && (knownAfter[rival.other]?.[at.block] ?? 0) > at.step),
    );
    awaits[id] = kept.map(({ at }) => ({ block: at.block, step: at.step })).sort((a, b) => a.block - b.block);
    mine[place.block] = place.step + 1;
    knownAfter[id] = mine.slice();
  }
  return awaits;
}
