import { copyBox } from "../sbp/box.js";
import { boxOf, elementsOf, type Layout } from "../sbp/layout.js";
import { memberOf } from "../sbp/placement.js";
import type { BoxingStep, CollectiveStep, CopyStep, SliceCopy } from "./boxing.js";
import { packSlices, unpackSlices } from "./pack.js";

// What one rank does of a step with the memory that it has. Executors put the collective, or the transport, between.

/** The axis that a signature splits along the step's dimension. */
function axisAlong(place: Layout, dimension: number): number | undefined {
  const sbp = place.sbp[dimension];
  return sbp?.kind === "split" ? sbp.axis : undefined;
}

/** Elements that a rank gives to its collective, and gets from it. */
export function collectiveLengths({ from, to }: BoxingStep, rank: number): { readonly send: number; readonly recv: number } {
  const lengthIn = (place: Layout): number => {
    const member = memberOf(place.placement, rank);
    return member < 0 ? 0 : elementsOf(place, member);
  };
  return { send: lengthIn(from), recv: lengthIn(to) };
}

/** Brings a rank's input into the order that its collective wants. @pre `step.isPacked` */
export function packForCollective(step: CollectiveStep, rank: number, data: Float32Array, packed: Float32Array): void {
  const axis = axisAlong(step.to, step.dimension) ?? 0;
  const size = step.groups[0]?.length ?? 1;
  packSlices(data, boxOf(step.from, memberOf(step.from.placement, rank)), axis, size, packed);
}

/** Puts what the collective gave into its place. @pre `step.isUnpacked` */
export function unpackFromCollective(step: CollectiveStep, rank: number, packed: Float32Array, data: Float32Array): void {
  const axis = axisAlong(step.from, step.dimension) ?? 0;
  const size = step.groups[0]?.length ?? 1;
  unpackSlices(packed, boxOf(step.to, memberOf(step.to.placement, rank)), axis, size, data);
}

const byTarget = new WeakMap<CopyStep, ReadonlyMap<number, SliceCopy[]>>();

/** The copies that make a rank's part. */
export function copiesTo(step: CopyStep, rank: number): readonly SliceCopy[] {
  let known = byTarget.get(step);
  if (known === undefined) {
    const lists = new Map<number, SliceCopy[]>();
    for (const copy of step.copies) {
      const list = lists.get(copy.toRank);
      if (list === undefined) lists.set(copy.toRank, [copy]);
      else list.push(copy);
    }
    known = lists;
    byTarget.set(step, known);
  }
  return known.get(rank) ?? [];
}

/**
 * Makes a rank's part from other ranks' memory.
 * @param dataOf - what each rank named by {@link copiesTo} holds.
 */
export function copyInto(step: CopyStep, rank: number, dataOf: (fromRank: number) => Float32Array, target: Float32Array): void {
  const targetBox = boxOf(step.to, memberOf(step.to.placement, rank));
  target.fill(0);
  const isAdding = step.from.sbp.some(({ kind }) => kind === "partial");
  for (const { fromRank, box } of copiesTo(step, rank)) {
    copyBox(box, dataOf(fromRank), boxOf(step.from, memberOf(step.from.placement, fromRank)), target, targetBox, isAdding);
  }
}
