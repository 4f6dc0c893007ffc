import { type Box, shapeOf, volumeOf } from "../sbp/box.js";
import { boxingCost } from "../sbp/cost.js";
import { boxOf, type Layout } from "../sbp/layout.js";
import { groupsAlong } from "../sbp/placement.js";
import { isSameSbp, type Sbp } from "../sbp/sbp.js";
import type { BoxingCollective, BoxingStep } from "./boxing.js";
import { copySlices, withSbp } from "./slice-copies.js";

/**
 * The step that changes one dimension's signature inside its groups, by OneFlow's table; undefined where the groups don't hold
 * whole parts, because a dimension further in splits the same axis.
 */
export function changeDimension(from: Layout, dimension: number, sbp: Sbp, elementBytes: number): BoxingStep | undefined {
  const before = from.sbp[dimension] as Sbp;
  if (isSameSbp(before, sbp)) return undefined;
  const isNested = from.sbp.some(
    (inner, other) =>
      other > dimension && inner.kind === "split" && [before, sbp].some((one) => one.kind === "split" && one.axis === inner.axis),
  );
  if (isNested) return undefined;
  const to = withSbp(from, dimension, sbp);
  const groups = groupsAlong(from.placement, dimension);
  const size = from.placement.hierarchy[dimension] ?? 1;
  const together = groups.map(([first = 0]) => boxOf(from, first, dimension));
  const cost = together.reduce((sum, box) => {
    const bytes = volumeOf(box) * elementBytes;
    return sum + boxingCost(before, sbp, { bytes, from: size, to: size, isSamePlacement: true });
  }, 0);
  const collective = collectiveFor(before, sbp, together, size);
  if (collective === undefined) return copySlices(from, to, elementBytes);
  const ranks = groups.map((group) => group.map((member) => from.placement.ranks[member] ?? 0));
  // The first axis's slices lie one after the other anyway, if nothing but single elements comes before it.
  const isScattered = (one: Sbp): boolean => one.kind === "split" && together.some((box) => volumeOf(box.slice(0, one.axis)) > 1);
  return {
    kind: "collective",
    from,
    to,
    cost,
    collective,
    groups: ranks,
    dimension,
    isPacked: isScattered(sbp),
    isUnpacked: isScattered(before),
  };
}

/** Which collective does it; none where slices must be of one size and aren't, or where nothing moves. */
function collectiveFor(from: Sbp, to: Sbp, together: readonly Box[], size: number): BoxingCollective | undefined {
  const isEven = (sbp: Sbp): boolean => sbp.kind !== "split" || together.every((box) => (shapeOf(box)[sbp.axis] ?? 0) % size === 0);
  if (!isEven(from) || !isEven(to)) return undefined;
  if (from.kind === "partial" && to.kind === "broadcast") return "all-reduce";
  if (from.kind === "partial" && to.kind === "split") return "reduce-scatter";
  if (from.kind === "split" && to.kind === "broadcast") return "all-gather";
  if (from.kind === "split" && to.kind === "split") return "all-to-all";
  return undefined;
}
