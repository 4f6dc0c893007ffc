import { type Box, intersection, volumeOf } from "../sbp/box.js";
import { localCost } from "../sbp/cost.js";
import { boxOf, type Layout } from "../sbp/layout.js";
import { coordinatesOf, isSamePlacement } from "../sbp/placement.js";
import type { CopyStep, SliceCopy } from "./boxing.js";

/**
 * The change that always works: each rank takes the parts that it needs from whoever has them, from itself where it can. Of
 * summands it takes all; of copies the one in its own row of the grid. Where the target is partial, the first of each row keeps
 * everything and the others get zeros.
 */
export function copySlices(from: Layout, to: Layout, elementBytes: number): CopyStep {
  const sources = from.placement.ranks.map(
    (rank, member): Member => ({ rank, place: coordinatesOf(from.placement, member), box: boxOf(from, member) }),
  );
  // A slice in zeros is a summand: what is split already, or partial, stays where it is.
  const isInPlace = isSamePlacement(from.placement, to.placement);
  const staysSummand = to.sbp.map(({ kind }, dimension) => isInPlace && kind === "partial" && from.sbp[dimension]?.kind !== "broadcast");
  const copies: SliceCopy[] = [];
  let moved = 0;
  to.placement.ranks.forEach((toRank, member) => {
    const place = coordinatesOf(to.placement, member);
    if (to.sbp.some(({ kind }, dimension) => kind === "partial" && place[dimension] !== 0 && !staysSummand[dimension])) return;
    const box = boxOf(to, member);
    const own = sources.find(({ rank }) => rank === toRank)?.place;
    // Ranks that hold nothing of it take their copies from different rows, so that no row serves all.
    const row = from.placement.hierarchy.map((extent, dimension) => own?.[dimension] ?? member % extent);
    for (const source of sources) {
      const isWanted = source.place.every((coordinate, dimension) => {
        if (staysSummand[dimension]) return coordinate === place[dimension];
        return from.sbp[dimension]?.kind !== "broadcast" || coordinate === row[dimension];
      });
      if (!isWanted) continue;
      const common = intersection(source.box, box);
      const volume = volumeOf(common);
      if (volume === 0) continue;
      copies.push({ fromRank: source.rank, toRank, box: common });
      if (source.rank !== toRank) moved += volume;
    }
  });
  return { kind: "copies", from, to, copies, cost: moved === 0 ? localCost : moved * elementBytes };
}

interface Member {
  readonly rank: number;
  readonly place: readonly number[];
  readonly box: Box;
}

/** Every layout with one signature replaced. */
export function withSbp(place: Layout, dimension: number, sbp: Layout["sbp"][number]): Layout {
  return { ...place, sbp: place.sbp.map((one, other) => (other === dimension ? sbp : one)) };
}
