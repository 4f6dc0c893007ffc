import type { Step } from "../program.js";
import type { Builder, LaneContext } from "./builder.js";
import { after, input, output, recv, recvCopySend, recvReduceCopy, recvReduceSend, send } from "./step-factory.js";

// Two binary trees, each for one half of the data. Who is a leaf in one tree is an inner rank in the other, so all ranks
// send and receive about equally much: nearly the bandwidth of a ring at logarithmic latency. (Sanders, Speck, Träff:
// Two-tree algorithms for full bandwidth broadcast, reduction and scan.)
//
// In each tree one block of a rank reduces upwards and another passes results downwards, so that a tile can come down
// while the next one goes up; at the root, the second waits for the first.

interface TreeLinks {
  readonly parent: number | undefined;
  readonly children: readonly number[];
}

/**
 * Binary tree in which an in-order walk meets the ranks 0, 1, 2, …: counted from 1, the odd ones are leaves, and the
 * level of a rank is its lowest set bit.
 */
function inOrderParent(rank: number, rankCount: number): number | undefined {
  const number = rank + 1;
  const level = number & -number;
  const above = (number ^ level) | (level * 2);
  const parent = above <= rankCount ? above : number ^ level;
  return parent === 0 ? undefined : parent - 1;
}

/** Tree 1 is tree 0 with the ranks mirrored (even R) or shifted by one (odd R): leaves and inner ranks change places. */
export function treeLinks(tree: number, rank: number, rankCount: number): TreeLinks {
  const exchange = (other: number, shift: number): number => {
    if (tree === 0) return other;
    return rankCount % 2 === 0 ? rankCount - 1 - other : (other + shift + rankCount) % rankCount;
  };
  const place = exchange(rank, -1);
  const parent = inOrderParent(place, rankCount);
  const children: number[] = [];
  for (let other = 0; other < rankCount; other += 1) {
    if (inOrderParent(other, rankCount) === place) children.push(exchange(other, 1));
  }
  return { parent: parent === undefined ? undefined : exchange(parent, 1), children };
}

export const doubleBinaryTreeAllReduce: Builder = {
  chunksPerLane: () => 2,
  connectionsPerLane: 4,
  inPlace: true,
  outOfPlace: true,
  steps: (context) => [0, 1].flatMap((tree) => treeSteps(context, tree)),
};

function treeSteps(context: LaneContext, tree: number): Step[][] {
  const { parent, children } = treeLinks(tree, context.rank, context.rankCount);
  const own = input(context.chunk(tree));
  const result = output(context.chunk(tree));
  const upwards = (peer: number) => context.to(peer, tree * 2);
  const downwards = (peer: number) => context.to(peer, tree * 2 + 1);

  const up: Step[] = children.map((child, index) => {
    const partial = index === 0 ? own : result;
    const isLast = index === children.length - 1;
    return parent !== undefined && isLast
      ? recvReduceSend(partial, upwards(child), upwards(parent))
      : recvReduceCopy(result, partial, upwards(child));
  });
  if (parent !== undefined && children.length === 0) up.push(send(own, upwards(parent)));

  const [first, ...others] = children;
  if (parent === undefined) {
    const reduced = { block: context.firstBlock + tree * 2, step: up.length - 1 };
    const down = children.map((child) => send(result, downwards(child)));
    return [up, down.map((step, index) => (index === 0 ? after(step, reduced) : step))];
  }
  const arrival = first === undefined ? recv(result, downwards(parent)) : recvCopySend(result, downwards(parent), downwards(first));
  return [up, [arrival, ...others.map((child) => send(result, downwards(child)))]];
}
