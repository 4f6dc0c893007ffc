import { boxOf, type Layout, type Parts, volumeOf } from "../../src/index.js";
import { coordinatesOf } from "../../src/sbp/placement.js";

/** Whole numbers, so that sums are exact in whatever order. */
export function denseTensor(shape: readonly number[]): Float32Array {
  const size = shape.reduce((product, extent) => product * extent, 1);
  return Float32Array.from({ length: size }, (_, index) => ((index * 37) % 101) + 1);
}

/** Index of an element in the dense tensor, from its place in a part's box: spelled out, element by element. */
function denseIndices({ shape, ...rest }: Layout, member: number): number[] {
  const box = boxOf({ shape, ...rest }, member);
  let indices = [0];
  shape.forEach((extent, axis) => {
    const { from, to } = box[axis] ?? { from: 0, to: 0 };
    indices = indices.flatMap((index) => Array.from({ length: to - from }, (_, step) => index * extent + from + step));
  });
  return indices;
}

/** Parts of a dense tensor; along partial dimensions summands that add up to it. */
export function distribute(dense: Float32Array, place: Layout): Parts {
  return new Map(
    place.placement.ranks.map((rank, member) => {
      const weight = summandWeight(place, member);
      const part = new Float32Array(volumeOf(boxOf(place, member)));
      denseIndices(place, member).forEach((index, at) => {
        part[at] = (dense[index] ?? Number.NaN) * weight;
      });
      return [rank, part];
    }),
  );
}

/** Weights along each partial dimension are 2, 3, …, and the first makes them add up to 1. */
function summandWeight(place: Layout, member: number): number {
  const coordinates = coordinatesOf(place.placement, member);
  return place.sbp.reduce((weight, { kind }, dimension) => {
    if (kind !== "partial") return weight;
    const extent = place.placement.hierarchy[dimension] ?? 1;
    const coordinate = coordinates[dimension] ?? 0;
    const others = Array.from({ length: extent - 1 }, (_, index) => index + 2).reduce((sum, value) => sum + value, 0);
    return weight * (coordinate === 0 ? 1 - others : coordinate + 1);
  }, 1);
}

/** The dense tensor for each combination of broadcast coordinates: all must be equal. */
export function collect(parts: Parts, place: Layout): Float32Array[] {
  const rows = new Map<string, Float32Array>();
  place.placement.ranks.forEach((rank, member) => {
    const coordinates = coordinatesOf(place.placement, member);
    const key = place.sbp.map(({ kind }, dimension) => (kind === "broadcast" ? coordinates[dimension] : "*")).join();
    const size = place.shape.reduce((product, extent) => product * extent, 1);
    const row = rows.get(key) ?? new Float32Array(size);
    rows.set(key, row);
    const part = parts.get(rank);
    denseIndices(place, member).forEach((index, at) => {
      row[index] = (row[index] ?? 0) + (part?.[at] ?? Number.NaN);
    });
  });
  return [...rows.values()];
}
