import { type Box, indexOfPart, partOf, type Range, wholeBox } from "../sbp/box.js";
import type { Layout } from "../sbp/layout.js";

/** A member of a placement, and what it holds. */
export interface Holder {
  readonly member: number;
  readonly box: Box;
}

/**
 * The members whose parts have something in common with a box, in their order. Found along the grid, dimension by dimension: only
 * those are looked at that overlap.
 * @param only - by dimension: the one coordinate that counts; of all others: each.
 */
export function* membersThatOverlap(place: Layout, box: Box, only: readonly (number | undefined)[]): Generator<Holder> {
  const { shape, sbp, placement } = place;
  const parts: Range[] = [...wholeBox(shape)];
  yield* along(0, 0);

  function* along(dimension: number, member: number): Generator<Holder> {
    const one = sbp[dimension];
    const extent = placement.hierarchy[dimension] ?? 1;
    if (one === undefined) {
      yield { member, box: [...parts] };
      return;
    }
    const axis = one.kind === "split" ? one.axis : -1;
    const whole = parts[axis];
    const [first, last] = whole === undefined ? [0, extent - 1] : overlapping(whole, box[axis] ?? whole, extent);
    const wanted = only[dimension];
    for (let at = Math.max(first, wanted ?? first); at <= Math.min(last, wanted ?? last); at += 1) {
      if (whole !== undefined) parts[axis] = partOf(whole, extent, at);
      yield* along(dimension + 1, member * extent + at);
    }
    if (whole !== undefined) parts[axis] = whole;
  }
}

/** The first and the last of a range's parts that have something in common with another range; a first behind the last: none has. */
function overlapping(whole: Range, other: Range, parts: number): [first: number, last: number] {
  const from = Math.max(whole.from, other.from);
  const to = Math.min(whole.to, other.to);
  return from >= to ? [1, 0] : [indexOfPart(whole, parts, from), indexOfPart(whole, parts, to - 1)];
}
