import type { LocalChunk, Step } from "../program.js";
import type { Builder, LaneContext } from "./builder.js";
import { copy, input, multiReduceCopy, on, output, recv, recvReduceCopy, scratch, send } from "./step-factory.js";

// Every rank talks to every other at once: one or two rounds whatever the number of ranks, R - 1 connections a rank.
// Where many ranks send, partners meet in rounds (round k pairs r with k - r), so that nobody is everyone's first target.

function partnersInRounds({ rank, rankCount }: LaneContext): number[] {
  return Array.from({ length: rankCount }, (_, round) => (round - rank + rankCount) % rankCount).filter((partner) => partner !== rank);
}

/**
 * Everybody sends everything to everybody and reduces for itself, in the order of ranks, so that all get the same bits.
 */
export const allPairsOneShotAllReduce: Builder = {
  scratchPerLane: ({ rank }) => (rank > 1 ? 1 : 0),
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, rankCount, chunk, scratchChunk, to } = context;
    const own = input(chunk(0));
    const result = output(chunk(0));
    const steps = partnersInRounds(context).map((peer) => send(own, to(peer)));
    // Sums of 0 .. rank - 1 gather in scratch: in place, `result` still holds the own input. x0 + x1 = x1 + x0, bit for
    // bit, so the first two ranks need none.
    if (rank === 0) steps.push(recvReduceCopy(result, own, to(1)));
    else if (rank === 1) steps.push(recvReduceCopy(result, own, to(0)));
    else {
      const partial = scratch(scratchChunk(0));
      steps.push(recv(partial, to(0)));
      for (let from = 1; from < rank; from += 1) steps.push(recvReduceCopy(partial, partial, to(from)));
      steps.push(multiReduceCopy([on(rank, result)], [on(rank, partial), on(rank, own)]));
    }
    for (let from = Math.max(2, rank + 1); from < rankCount; from += 1) steps.push(recvReduceCopy(result, result, to(from)));
    return [steps];
  },
};

/** Rank r reduces shard r, then sends it to everybody. */
export const allPairsTwoShotAllReduce: Builder = {
  chunksPerLane: (rankCount) => rankCount,
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, chunk, to } = context;
    const partners = partnersInRounds(context);
    return [
      [
        ...partners.map((peer) => send(input(chunk(peer)), to(peer))),
        ...reduceFromAll(context, output(chunk(rank)), input(chunk(rank))),
        ...partners.map((peer) => send(output(chunk(rank)), to(peer))),
        ...partners.map((peer) => recv(output(chunk(peer)), to(peer))),
      ],
    ];
  },
};

/** Segment r of every input goes to rank r. */
export const allPairsReduceScatter: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, chunk, to } = context;
    const sends = partnersInRounds(context).map((peer) => send(input(chunk(0, peer)), to(peer)));
    return [[...sends, ...reduceFromAll(context, output(chunk(0)), input(chunk(0, rank)))]];
  },
};

export const allPairsAllGather: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, chunk, to } = context;
    const partners = partnersInRounds(context);
    const own = input(chunk(0));
    return [
      [
        ...partners.map((peer) => send(own, to(peer))),
        copy(output(chunk(0, rank)), own),
        ...partners.map((peer) => recv(output(chunk(0, peer)), to(peer))),
      ],
    ];
  },
};

/** In each round, partners exchange their segments; in place, each sends a segment before the other's overwrites it. */
export const allPairsAllToAll: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, chunk, to } = context;
    const exchanges = partnersInRounds(context).flatMap((peer) => [
      send(input(chunk(0, peer)), to(peer)),
      recv(output(chunk(0, peer)), to(peer)),
    ]);
    return [[copy(output(chunk(0, rank)), input(chunk(0, rank))), ...exchanges]];
  },
};

/** Everybody sends to the root. */
export const allPairsReduce: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rank, root, chunk, to } = context;
    const own = input(chunk(0));
    return [rank === root ? reduceFromAll(context, output(chunk(0)), own) : [send(own, to(root))]];
  },
};

/** The root sends to everybody. */
export const allPairsBroadcast: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: ({ rank, root, peers, chunk, to }) => {
    const own = input(chunk(0));
    const result = output(chunk(0));
    return [rank === root ? [...peers.map((peer) => send(own, to(peer))), copy(result, own)] : [recv(result, to(root))]];
  },
};

/** Everybody sends to the root. */
export const allPairsGather: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: ({ rank, root, peers, chunk, to }) => {
    const own = input(chunk(0));
    if (rank !== root) return [[send(own, to(root))]];
    return [[copy(output(chunk(0, rank)), own), ...peers.map((peer) => recv(output(chunk(0, peer)), to(peer)))]];
  },
};

/** The root sends each rank its segment. */
export const allPairsScatter: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: ({ rank, root, peers, chunk, to }) => {
    const result = output(chunk(0));
    if (rank !== root) return [[recv(result, to(root))]];
    return [[...peers.map((peer) => send(input(chunk(0, peer)), to(peer))), copy(result, input(chunk(0, rank)))]];
  },
};

function reduceFromAll(context: LaneContext, result: LocalChunk, own: LocalChunk): Step[] {
  return partnersInRounds(context).map((peer, index) => recvReduceCopy(result, index === 0 ? own : result, context.to(peer)));
}
