import type { LocalChunk, Step } from "../program.js";
import type { Builder, LaneContext } from "./builder.js";
import { copy, input, output, recv, recvCopySend, recvReduceCopy, recvReduceSend, scratch, send } from "./step-factory.js";

// A tree of depth log2 R around the root: few rounds, so few delays for small messages. Ranks are numbered from the root
// here (`place`); the parent of a place is the place without its lowest set bit:
//
//     0 ── 1                     place 4 leads the places 4 to 7
//     ├─ 2 ── 3
//     └─ 4 ┬ 5
//          └ 6 ── 7

export interface TreePlace {
  readonly place: number;
  /** Rank of the parent; undefined at the root. */
  readonly parent: number | undefined;
  /** Places of the children, that of the largest subtree first. */
  readonly children: readonly number[];
  rankAt(place: number): number;
}

export function binomialPlace(rank: number, rankCount: number, root: number): TreePlace {
  const place = (rank - root + rankCount) % rankCount;
  const rankAt = (other: number): number => (other + root) % rankCount;
  const children: number[] = [];
  for (let bit = 1; bit < rankCount && (place & bit) === 0; bit *= 2) {
    if (place + bit < rankCount) children.unshift(place + bit);
  }
  return { place, parent: place === 0 ? undefined : rankAt(place & (place - 1)), children, rankAt };
}

/** Number of places in the subtree that a place leads. */
export function binomialSubtreeSize(place: number, rankCount: number): number {
  const lowestBit = place === 0 ? rankCount : place & -place;
  return Math.min(lowestBit, rankCount - place);
}

/** Receives partial results from the children, the smallest subtree first, and passes the sum on. */
function reduceSteps(context: LaneContext, root: number, partial: LocalChunk): Step[] {
  const { parent, children, rankAt } = binomialPlace(context.rank, context.rankCount, root);
  const own = input(context.chunk(0));
  const arrivals = [...children].reverse().map((child) => context.to(rankAt(child)));
  if (parent === undefined) {
    return arrivals.map((from, index) => recvReduceCopy(partial, index === 0 ? own : partial, from));
  }
  const last = arrivals.pop();
  if (last === undefined) return [send(own, context.to(parent))];
  const earlier = arrivals.map((from, index) => recvReduceCopy(partial, index === 0 ? own : partial, from));
  return [...earlier, recvReduceSend(arrivals.length === 0 ? own : partial, last, context.to(parent))];
}

/** Receives the result from the parent and passes it on to the children, that of the largest subtree first. */
function broadcastSteps(context: LaneContext, root: number): Step[] {
  const { parent, children, rankAt } = binomialPlace(context.rank, context.rankCount, root);
  const result = output(context.chunk(0));
  const targets = children.map((child) => context.to(rankAt(child)));
  if (parent === undefined) return targets.map((target) => send(result, target));
  const first = targets.shift();
  const arrival = first === undefined ? recv(result, context.to(parent)) : recvCopySend(result, context.to(parent), first);
  return [arrival, ...targets.map((target) => send(result, target))];
}

export const binomialReduce: Builder = {
  // The root sums up in its output; inner ranks have none.
  scratchPerLane: ({ rank, rankCount, root }) => (rank !== root && binomialPlace(rank, rankCount, root).children.length > 1 ? 1 : 0),
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, root, chunk, scratchChunk } = context;
    return [reduceSteps(context, root, rank === root ? output(chunk(0)) : scratch(scratchChunk(0)))];
  },
};

export const binomialBroadcast: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, root, chunk } = context;
    const own = rank === root ? [copy(output(chunk(0)), input(chunk(0)))] : [];
    return [[...own, ...broadcastSteps(context, root)]];
  },
};

/** Up the tree to rank 0 and down again. */
export const binomialAllReduce: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => [[...reduceSteps(context, 0, output(context.chunk(0))), ...broadcastSteps(context, 0)]],
};
