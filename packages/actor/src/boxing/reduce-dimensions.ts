import type { Layout } from "../sbp/layout.js";
import type { Placement } from "../sbp/placement.js";
import { isSameSbp, type Sbp } from "../sbp/sbp.js";

/**
 * Takes dimensions of size 1 out, and neighbours together that have one signature on both sides, so that less is left to choose.
 * Neighbours that split one axis are one split only where it divides: nested splits round differently.
 */
export function reduceDimensions(from: Layout, to: Layout): [Layout, Layout] {
  const isAlike = from.placement.hierarchy.join() === to.placement.hierarchy.join();
  if (!isAlike) return [reduceOne(from), reduceOne(to)];
  let [a, b] = [from, to];
  for (let dimension = a.sbp.length - 1; dimension >= 0; dimension -= 1) {
    if (a.sbp.length > 1 && a.placement.hierarchy[dimension] === 1) [a, b] = [without(a, dimension), without(b, dimension)];
  }
  for (let dimension = a.sbp.length - 2; dimension >= 0; dimension -= 1) {
    if (isMergeable(a, dimension) && isMergeable(b, dimension)) [a, b] = [merged(a, dimension), merged(b, dimension)];
  }
  return [a, b];
}

function reduceOne(place: Layout): Layout {
  return reduceDimensions(place, place)[0];
}

function isMergeable({ shape, sbp, placement }: Layout, dimension: number): boolean {
  const [one, next] = [sbp[dimension] as Sbp, sbp[dimension + 1] as Sbp];
  if (!isSameSbp(one, next)) return false;
  if (one.kind !== "split") return true;
  const parts = sbp.reduce((product, other, d) => (isSameSbp(other, one) ? product * (placement.hierarchy[d] ?? 1) : product), 1);
  return (shape[one.axis] ?? 0) % parts === 0;
}

function without(place: Layout, dimension: number): Layout {
  return rebuilt(
    place,
    place.placement.hierarchy.filter((_extent, other) => other !== dimension),
    dimension,
  );
}

function merged(place: Layout, dimension: number): Layout {
  const { hierarchy } = place.placement;
  const product = (hierarchy[dimension] ?? 1) * (hierarchy[dimension + 1] ?? 1);
  return rebuilt(place, [...hierarchy.slice(0, dimension), product, ...hierarchy.slice(dimension + 2)], dimension);
}

function rebuilt(place: Layout, hierarchy: readonly number[], leftOut: number): Layout {
  const placement: Placement = { ranks: place.placement.ranks, hierarchy };
  return { ...place, sbp: place.sbp.filter((_sbp, other) => other !== leftOut), placement };
}
