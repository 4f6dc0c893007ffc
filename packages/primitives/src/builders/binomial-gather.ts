import type { Step } from "../program.js";
import { binomialPlace, binomialSubtreeSize } from "./binomial-tree.js";
import type { Builder, LaneContext } from "./builder.js";
import { copy, input, output, recv, scratch, send } from "./step-factory.js";

// Gather and scatter along a binomial tree: a rank handles the segments of its whole subtree at once. In the root's
// buffer segments are in the order of ranks, in the tree in the order of places, so a subtree that wraps around the last
// rank is sent in two messages. A message is a range of neighbouring segments, which is why there is one channel only.

interface SegmentRange {
  /** Segment in the root's buffer. */
  readonly segment: number;
  /** The same, counted in places from the start of the subtree. */
  readonly offset: number;
  readonly count: number;
}

function rangesOf(context: LaneContext, place: number): SegmentRange[] {
  const { rankCount, root } = context;
  const size = binomialSubtreeSize(place, rankCount);
  const segment = (place + root) % rankCount;
  const untilWrap = Math.min(size, rankCount - segment);
  const ranges = [{ segment, offset: 0, count: untilWrap }];
  if (untilWrap < size) ranges.push({ segment: 0, offset: untilWrap, count: size - untilWrap });
  return ranges;
}

function scratchOfInnerRank({ rank, rankCount, root }: { rank: number; rankCount: number; root: number }): number {
  const { place } = binomialPlace(rank, rankCount, root);
  const size = binomialSubtreeSize(place, rankCount);
  return rank === root || size === 1 ? 0 : size;
}

export const binomialGather: Builder = {
  scratchPerLane: scratchOfInnerRank,
  maxChannels: 1,
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, rankCount, root, to, chunk } = context;
    const { place, parent, children, rankAt } = binomialPlace(rank, rankCount, root);
    const own = input(chunk(0));
    if (parent === undefined) {
      const steps: Step[] = [copy(output(chunk(0, rank)), own)];
      for (const child of children.toReversed()) {
        for (const { segment, count } of rangesOf(context, child)) {
          steps.push(recv(output(chunk(0, segment)), to(rankAt(child)), count));
        }
      }
      return [steps];
    }
    if (children.length === 0) return [[send(own, to(parent))]];
    const steps: Step[] = [copy(scratch(0), own)];
    for (const child of children.toReversed()) {
      for (const { offset, count } of rangesOf(context, child)) {
        steps.push(recv(scratch(child - place + offset), to(rankAt(child)), count));
      }
    }
    steps.push(...rangesOf(context, place).map(({ offset, count }) => send(scratch(offset), to(parent), count)));
    return [steps];
  },
};

export const binomialScatter: Builder = {
  scratchPerLane: scratchOfInnerRank,
  maxChannels: 1,
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, rankCount, root, to, chunk } = context;
    const { place, parent, children, rankAt } = binomialPlace(rank, rankCount, root);
    const result = output(chunk(0));
    if (parent === undefined) {
      const sends = children.flatMap((child) =>
        rangesOf(context, child).map(({ segment, count }) => send(input(chunk(0, segment)), to(rankAt(child)), count)),
      );
      return [[...sends, copy(result, input(chunk(0, rank)))]];
    }
    if (children.length === 0) return [[recv(result, to(parent))]];
    const arrivals = rangesOf(context, place).map(({ offset, count }) => recv(scratch(offset), to(parent), count));
    const sends = children.flatMap((child) =>
      rangesOf(context, child).map(({ offset, count }) => send(scratch(child - place + offset), to(rankAt(child)), count)),
    );
    return [[...arrivals, ...sends, copy(result, scratch(0))]];
  },
};
