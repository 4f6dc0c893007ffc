import { limits } from "../limits.js";
import type { Step } from "../program.js";
import type { Builder, LaneContext } from "./builder.js";
import { awaitSignal, copy, input, multiReduceCopy, on, output, scratch, signal } from "./step-factory.js";

// In place, these collectives would overwrite what others still have to read. So each rank first copies its input to
// scratch memory and tells everybody; then all read from there.

export const stagedOneShotAllReduce: Builder = {
  scratchPerLane: () => 1,
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  maxRanks: limits.references,
  steps: (context) => {
    const { rank, everyRank, chunk, scratchChunk } = context;
    const staged = scratch(scratchChunk(0));
    return [
      [
        copy(staged, input(chunk(0))),
        ...tellEverybody(context),
        multiReduceCopy(
          [on(rank, output(chunk(0)))],
          everyRank.map((from) => on(from, staged)),
        ),
      ],
    ];
  },
};

export const stagedAllToAll: Builder = {
  scratchPerLane: ({ rankCount }) => rankCount,
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  steps: (context) => {
    const { rank, everyRank, chunk, scratchChunk } = context;
    return [
      [
        ...everyRank.map((to) => copy(scratch(scratchChunk(to)), input(chunk(0, to)))),
        ...tellEverybody(context),
        ...everyRank.map((_, distance) => {
          const from = context.neighbour(distance);
          return multiReduceCopy([on(rank, output(chunk(0, from)))], [on(from, scratch(scratchChunk(rank)))]);
        }),
      ],
    ];
  },
};

function tellEverybody({ peers, to }: LaneContext): Step[] {
  return [...peers.map((peer) => signal(to(peer))), ...peers.map((peer) => awaitSignal(to(peer)))];
}
