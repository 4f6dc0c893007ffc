/** A part of a tensor: from..to (exclusive) along each axis. */
export type Box = readonly Range[];

export interface Range {
  readonly from: number;
  readonly to: number;
}

export function wholeBox(shape: readonly number[]): Box {
  return shape.map((extent) => ({ from: 0, to: extent }));
}

export function shapeOf(box: Box): number[] {
  return box.map(({ from, to }) => to - from);
}

export function volumeOf(box: Box): number {
  return box.reduce((product, { from, to }) => product * Math.max(0, to - from), 1);
}

/** What both have in common; its volume is 0 where that is nothing. */
export function intersection(a: Box, b: Box): Box {
  return a.map((range, axis) => {
    const other = b[axis] ?? range;
    const from = Math.max(range.from, other.from);
    return { from, to: Math.max(from, Math.min(range.to, other.to)) };
  });
}

/** Whether all of a box lies in the other; both are of the same tensor. */
export function isWithin(box: Box, outer: Box): boolean {
  return box.length === outer.length && box.every(({ from, to }, axis) => from >= (outer[axis]?.from ?? 0) && to <= (outer[axis]?.to ?? 0));
}

/** Part `index` of `parts` of a range. What doesn't divide goes to the first parts, one each. */
export function partOf({ from, to }: Range, parts: number, index: number): Range {
  const least = Math.floor((to - from) / parts);
  const rest = (to - from) % parts;
  const start = from + index * least + Math.min(index, rest);
  return { from: start, to: start + least + (index < rest ? 1 : 0) };
}

/** Which of its parts a position of a range is in: the reverse of {@link partOf}. @pre the range holds it. */
export function indexOfPart({ from, to }: Range, parts: number, position: number): number {
  const least = Math.floor((to - from) / parts);
  const rest = (to - from) % parts;
  const offset = position - from;
  const inLonger = rest * (least + 1);
  return offset < inLonger ? Math.floor(offset / (least + 1)) : rest + Math.floor((offset - inLonger) / least);
}

/**
 * Copies or adds `box` from one part of a tensor to another, each stored row by row.
 * @pre both parts contain the box.
 */
export function copyBox(box: Box, source: Float32Array, sourceBox: Box, target: Float32Array, targetBox: Box, isAdding = false): void {
  if (volumeOf(box) === 0) return;
  const last = box.length - 1;
  const inner = box[last];
  if (inner === undefined) {
    target[0] = (isAdding ? (target[0] ?? 0) : 0) + (source[0] ?? 0);
    return;
  }
  const length = inner.to - inner.from;
  const walk = (axis: number, sourceAt: number, targetAt: number): void => {
    const { from, to } = box[axis] as Range;
    const [inSource, inTarget] = [sourceBox[axis] as Range, targetBox[axis] as Range];
    const sourceStart = sourceAt * (inSource.to - inSource.from) + from - inSource.from;
    const targetStart = targetAt * (inTarget.to - inTarget.from) + from - inTarget.from;
    if (axis < last) {
      for (let step = 0; step < to - from; step += 1) walk(axis + 1, sourceStart + step, targetStart + step);
    } else if (isAdding) {
      for (let step = 0; step < length; step += 1)
        target[targetStart + step] = (target[targetStart + step] ?? 0) + (source[sourceStart + step] ?? 0);
    } else target.set(source.subarray(sourceStart, sourceStart + length), targetStart);
  };
  walk(0, 0, 0);
}
