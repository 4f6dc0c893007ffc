import { limits } from "../limits.js";
import type { Builder } from "./builder.js";
import { input, multiReduceCopy, on, output } from "./step-factory.js";

// Direct algorithms read and write other ranks' buffers in place of sending: for ranks that share memory. The engine
// shows a rank's buffers to the others once that rank has submitted the run, and ends the run with a barrier, so the
// steps need no signals of their own.

/** Every rank reads all inputs and reduces all of them for itself: one round, R times the reading. */
export const directOneShotAllReduce: Builder = {
  inPlace: false,
  outOfPlace: true,
  usesDirect: true,
  maxRanks: limits.references,
  steps: ({ rank, everyRank, chunk }) => [
    [
      multiReduceCopy(
        [on(rank, output(chunk(0)))],
        everyRank.map((from) => on(from, input(chunk(0)))),
      ),
    ],
  ],
};

/**
 * Rank r reduces shard r of all inputs and writes it to all outputs: every byte is read and written once. Nobody else
 * touches shard r, so it also works in place.
 */
export const directTwoShotAllReduce: Builder = {
  chunksPerLane: (rankCount) => rankCount,
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  maxRanks: limits.references,
  steps: ({ rank, everyRank, chunk }) => [
    [
      multiReduceCopy(
        everyRank.map((to) => on(to, output(chunk(rank)))),
        everyRank.map((from) => on(from, input(chunk(rank)))),
      ),
    ],
  ],
};

/**
 * The same in two phases, for links that carry less where reads and writes mix: shard r goes into rank r's own output, and
 * from there to all others. A shard is contiguous, whatever the lanes.
 */
export const directTwoShotAllReduceInPhases: Builder = {
  chunksPerLane: (rankCount) => rankCount,
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  stepByStep: true,
  maxRanks: limits.references,
  steps: ({ rank, everyRank, peers, lane, laneCount, neighbour }) => {
    const share = rank * laneCount + lane;
    const own = on(rank, output(share));
    const others = peers.map((_, index) => on(neighbour(index + 1), output(share)));
    const inputs = everyRank.map((from) => on(from, input(share)));
    return [[multiReduceCopy([own], inputs), multiReduceCopy(others, [own])]];
  },
};

/** Each rank writes its segment to every output. */
export const directAllGather: Builder = {
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  maxRanks: limits.references,
  steps: ({ rank, everyRank, chunk }) => [
    [
      multiReduceCopy(
        everyRank.map((to) => on(to, output(chunk(0, rank)))),
        [on(rank, input(chunk(0)))],
      ),
    ],
  ],
};

/** Each rank reduces its own segment of every input. */
export const directReduceScatter: Builder = {
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  maxRanks: limits.references,
  steps: ({ rank, everyRank, chunk }) => [
    [
      multiReduceCopy(
        [on(rank, output(chunk(0)))],
        everyRank.map((from) => on(from, input(chunk(0, rank)))),
      ),
    ],
  ],
};

/** Rank r reduces shard r for the root, so that all ranks share the work. */
export const directReduce: Builder = {
  chunksPerLane: (rankCount) => rankCount,
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  maxRanks: limits.references,
  steps: ({ rank, root, everyRank, chunk }) => [
    [
      multiReduceCopy(
        [on(root, output(chunk(rank)))],
        everyRank.map((from) => on(from, input(chunk(rank)))),
      ),
    ],
  ],
};

/** Rank r copies shard r of the root's input to every output, so that all ranks share the work. */
export const directBroadcast: Builder = {
  chunksPerLane: (rankCount) => rankCount,
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  maxRanks: limits.references,
  steps: ({ rank, root, everyRank, chunk }) => [
    [
      multiReduceCopy(
        everyRank.map((to) => on(to, output(chunk(rank)))),
        [on(root, input(chunk(rank)))],
      ),
    ],
  ],
};

/** Each rank writes its segments to the outputs they are for. In place, somebody may not have read those yet. */
export const directAllToAll: Builder = {
  inPlace: false,
  outOfPlace: true,
  usesDirect: true,
  steps: ({ rank, rankCount, neighbour, chunk }) => [
    // Beginning with itself, so that the ranks don't all write to the same one at a time.
    Array.from({ length: rankCount }, (_, distance) => neighbour(distance)).map((to) =>
      multiReduceCopy([on(to, output(chunk(0, rank)))], [on(rank, input(chunk(0, to)))]),
    ),
  ],
};

/** Each rank writes its segment to the root. */
export const directGather: Builder = {
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  steps: ({ rank, root, chunk }) => [[multiReduceCopy([on(root, output(chunk(0, rank)))], [on(rank, input(chunk(0)))])]],
};

/** Each rank reads its segment from the root. */
export const directScatter: Builder = {
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  steps: ({ rank, root, chunk }) => [[multiReduceCopy([on(rank, output(chunk(0)))], [on(root, input(chunk(0, rank)))])]],
};

/** The sender writes one half, the receiver reads the other. The root is the sender. */
export const directSendRecv: Builder = {
  chunksPerLane: () => 2,
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  steps: ({ rank, root, chunk }) => [[multiReduceCopy([on(1 - root, output(chunk(rank)))], [on(root, input(chunk(rank)))])]],
};

/** No step at all: the barrier that ends every direct run is the barrier. */
export const directBarrier: Builder = { inPlace: true, outOfPlace: true, usesDirect: true, steps: () => [[]] };
