import type { Program } from "../program.js";
import { BarrierError } from "../program-errors.js";
import type { StepGraph } from "./graph.js";
import { HappensBefore } from "./happens-before.js";

/**
 * A barrier without direct access consists of its signals: every rank must have heard of every other.
 * @throws {BarrierError} for a rank that can leave too early.
 */
export function checkBarrier(program: Program, graph: StepGraph, order: Int32Array): void {
  if (program.usesDirect) return;
  const relation = new HappensBefore(graph);
  relation.walk(order, () => {});
  const threadsOf = program.ranks.map(() => [] as number[]);
  let thread = 0;
  program.ranks.forEach(({ blocks }, rank) => {
    for (let block = 0; block < blocks.length; block += 1) threadsOf[rank]?.push(thread++);
  });
  threadsOf.forEach((own, rank) => {
    threadsOf.forEach((others, other) => {
      const isKnown = own.some((at) => others.some((of) => relation.stepsKnownAtEnd(at, of) > 0));
      if (rank !== other && !isKnown) throw new BarrierError(rank, other);
    });
  });
}
