import type { LaneContext } from "./builder.js";

export interface LanePlace {
  readonly rank: number;
  readonly rankCount: number;
  readonly root: number;
  readonly lane: number;
  readonly hosts: readonly number[] | undefined;
  readonly laneCount: number;
  readonly firstBlock: number;
  readonly chunksPerLane: number;
  readonly connectionsPerLane: number;
  readonly scratchPerLane: number;
}

export function laneContext(place: LanePlace): LaneContext {
  const { rank, rankCount, root, lane, laneCount, hosts, firstBlock } = place;
  const everyRank = Array.from({ length: rankCount }, (_, index) => index);
  const chunksPerSegment = laneCount * place.chunksPerLane;
  return {
    rank,
    rankCount,
    root,
    lane,
    laneCount,
    hosts,
    firstBlock,
    everyRank,
    peers: everyRank.filter((other) => other !== rank),
    chunk: (index, segment = 0) => segment * chunksPerSegment + lane * place.chunksPerLane + index,
    scratchChunk: (index) => lane * place.scratchPerLane + index,
    neighbour: (distance) => (((rank + distance) % rankCount) + rankCount) % rankCount,
    to: (peer, which = 0) => ({ peer, channel: lane * place.connectionsPerLane + which }),
  };
}
