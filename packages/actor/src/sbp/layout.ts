import { formatValue } from "@dfccl/primitives";
import { type Box, partOf, type Range, volumeOf, wholeBox } from "./box.js";
import { ShapeError, SignatureError } from "./errors.js";
import { coordinatesOf, isSamePlacement, type Placement } from "./placement.js";
import { formatSbp, isSameNdSbp, type NdSbp } from "./sbp.js";

/** A logical tensor and how it lies on devices. */
export interface Layout {
  readonly shape: readonly number[];
  readonly sbp: NdSbp;
  readonly placement: Placement;
}

/** @throws {ShapeError}, {@link SignatureError} naming what doesn't fit. @pre lists of numbers, signatures, a placement. */
export function layout(shape: readonly number[], sbp: NdSbp, placement: Placement): Layout {
  const wrong = shape.findIndex((extent) => !Number.isSafeInteger(extent) || extent < 1);
  if (wrong >= 0) {
    const what = `The shape ${formatValue(shape)} has an extent of ${formatValue(shape[wrong])}.`;
    throw new ShapeError(what, "Give whole numbers from 1.", { shape });
  }
  if (sbp.length !== placement.hierarchy.length) {
    throw new SignatureError(
      `The signature ${formatSbp(sbp)} has ${sbp.length} dimensions, and its placement ${placement.hierarchy.length}.`,
      "Give one signature for each dimension of the placement's hierarchy.",
      { sbp: formatSbp(sbp), hierarchy: placement.hierarchy },
    );
  }
  const outside = sbp.find((one) => one.kind === "split" && one.axis >= shape.length);
  if (outside !== undefined) {
    throw new SignatureError(
      `The signature ${formatSbp(sbp)} splits an axis that the shape [${shape.join(", ")}] doesn't have.`,
      `Split one of the axes 0 to ${shape.length - 1}.`,
      { sbp: formatSbp(sbp), shape },
    );
  }
  return { shape, sbp, placement };
}

export function isSameLayout(a: Layout, b: Layout): boolean {
  return isSameNdSbp(a.sbp, b.sbp) && isSamePlacement(a.placement, b.placement);
}

/**
 * The part that a member holds: nested splits divide what the outer ones left.
 * @param without - a dimension of the hierarchy that is left out, which gives what its group holds together.
 */
export function boxOf({ shape, sbp, placement }: Layout, member: number, without?: number): Box {
  const coordinates = coordinatesOf(placement, member);
  const box: Range[] = [...wholeBox(shape)];
  sbp.forEach((one, dimension) => {
    if (one.kind !== "split" || dimension === without) return;
    box[one.axis] = partOf(box[one.axis] as Range, placement.hierarchy[dimension] ?? 1, coordinates[dimension] ?? 0);
  });
  return box;
}

export function elementsOf(place: Layout, member: number): number {
  return volumeOf(boxOf(place, member));
}
