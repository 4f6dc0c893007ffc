import { type Box, intersection, volumeOf } from "../sbp/box.js";
import { localCost } from "../sbp/cost.js";
import { boxOf, type Layout } from "../sbp/layout.js";
import { coordinatesOf, isSamePlacement, memberOf } from "../sbp/placement.js";
import type { CopyStep, SliceCopy } from "./boxing.js";
import { membersThatOverlap } from "./overlapping-members.js";

/** Copies of one step: each takes some 200 bytes, and every rank looks its own up. */
export const mostCopies = 2 ** 21;

/**
 * The change that always works: each rank takes the parts that it needs from whoever has them, from itself where it can. Of
 * summands it takes all; of copies the one in its own row of the grid. Where the target is partial, the first of each row keeps
 * everything and the others get zeros.
 * @returns nothing where that takes more than {@link mostCopies}.
 */
export function copySlices(from: Layout, to: Layout, elementBytes: number): CopyStep | undefined {
  // A slice in zeros is a summand: what is split already, or partial, stays where it is.
  const isInPlace = isSamePlacement(from.placement, to.placement);
  const staysSummand = to.sbp.map(({ kind }, dimension) => isInPlace && kind === "partial" && from.sbp[dimension]?.kind !== "broadcast");
  const isOfAll = from.sbp.map(({ kind }, dimension) => kind !== "broadcast" && !staysSummand[dimension]);
  const summands = from.sbp.reduce((product, { kind }, dimension) => {
    return kind === "partial" && isOfAll[dimension] ? product * (from.placement.hierarchy[dimension] ?? 1) : product;
  }, 1);
  const targets = to.placement.ranks.flatMap((rank, member): Target[] => {
    const place = coordinatesOf(to.placement, member);
    if (to.sbp.some(({ kind }, dimension) => kind === "partial" && place[dimension] !== 0 && !staysSummand[dimension])) return [];
    const box = boxOf(to, member);
    return volumeOf(box) === 0 ? [] : [{ rank, member, place, box }];
  });
  if (targets.length * summands > mostCopies) return undefined;
  const copies: SliceCopy[] = [];
  let moved = 0;
  for (const { rank, member, place, box } of targets) {
    const own = memberOf(from.placement, rank);
    const ownPlace = own < 0 ? undefined : coordinatesOf(from.placement, own);
    // Ranks that hold nothing of it take their copies from different rows, so that no row serves all.
    const only = from.placement.hierarchy.map((extent, dimension) => {
      if (isOfAll[dimension]) return undefined;
      return staysSummand[dimension] ? place[dimension] : (ownPlace?.[dimension] ?? member % extent);
    });
    for (const source of membersThatOverlap(from, box, only)) {
      if (copies.length === mostCopies) return undefined;
      const common = intersection(source.box, box);
      const fromRank = from.placement.ranks[source.member] ?? 0;
      copies.push({ fromRank, toRank: rank, box: common });
      if (fromRank !== rank) moved += volumeOf(common);
    }
  }
  return { kind: "copies", from, to, copies, cost: moved === 0 ? localCost : moved * elementBytes };
}

interface Target {
  readonly rank: number;
  readonly member: number;
  readonly place: readonly number[];
  readonly box: Box;
}

/** Every layout with one signature replaced. */
export function withSbp(place: Layout, dimension: number, sbp: Layout["sbp"][number]): Layout {
  return { ...place, sbp: place.sbp.map((one, other) => (other === dimension ? sbp : one)) };
}
