import { type Box, copyBox, partOf, type Range, volumeOf } from "../sbp/box.js";

/** Slices of a part along an axis, in order. */
function slicesOf(box: Box, axis: number, count: number): Box[] {
  return Array.from({ length: count }, (_, index) =>
    box.map((range, other) => (other === axis ? partOf(range as Range, count, index) : range)),
  );
}

/** Brings the slices along an axis together, one after the other: what a collective hands out by rank. */
export function packSlices(data: Float32Array, box: Box, axis: number, count: number, packed: Float32Array): void {
  let at = 0;
  for (const slice of slicesOf(box, axis, count)) {
    const length = volumeOf(slice);
    copyBox(slice, data, box, packed.subarray(at, at + length), slice);
    at += length;
  }
}

/** The reverse: puts slices that lie one after the other where they belong. */
export function unpackSlices(packed: Float32Array, box: Box, axis: number, count: number, data: Float32Array): void {
  let at = 0;
  for (const slice of slicesOf(box, axis, count)) {
    const length = volumeOf(slice);
    copyBox(slice, packed.subarray(at, at + length), slice, data, box);
    at += length;
  }
}
