import {
  checkInteger,
  checkList,
  checkObject,
  checkProgram,
  chunkCapacity,
  InvalidArgumentError,
  maxSlotChunks,
  opShapeOf,
  type Program,
  programLimits,
  protocolFactsOf,
  readArgument,
  tileCount,
} from "@dfccl/primitives";
import { Connection } from "./connection.js";
import type { SimulatedBlock, Tiling } from "./simulated-block.js";

const mostRanks = 1 << 20;
// A simulation takes an event or more for each.
const mostTiles = 1e8;
const expected = "a list such as [{ program, ranks: [0, 1], segmentBytes: 1024 }]";

/** A collective on some of a cluster's ranks. */
export interface PlacedProgram {
  readonly program: Program;
  /** Of the cluster, in the program's order. */
  readonly ranks: readonly number[];
  /** Of one segment: of the whole buffer in an all-reduce, of what one rank has for another in an all-to-all. */
  readonly segmentBytes: number;
}

/**
 * All blocks of all programs.
 * @param tileBytes - of one chunk; default: as many as fit into a slot of the protocol.
 */
export function placePrograms(placed: readonly PlacedProgram[], tileBytes: number | undefined): SimulatedBlock[] {
  checkList("placed", placed, expected);
  if (tileBytes !== undefined) checkInteger("tileBytes", tileBytes, 1);
  const blocks: SimulatedBlock[] = [];
  readArgument("placed", expected, () => {
    for (const each of placed) place(each, tilingOf(each, tileBytes), blocks);
  });
  return blocks;
}

function tilingOf(placed: PlacedProgram, tileBytes: number | undefined): Tiling {
  checkObject("a placed program", placed, "an object such as { program, ranks: [0, 1], segmentBytes: 1024 }");
  const { program, ranks, segmentBytes } = placed;
  checkProgram(program);
  checkInteger("program.slotCount", program.slotCount, 1, programLimits.slots);
  checkList("ranks", ranks, "a list with the cluster's rank of each of the program's");
  for (const rank of ranks) checkInteger("a rank", rank, 0, mostRanks);
  checkInteger("segmentBytes", segmentBytes, 0);
  if (program.usesDirect) {
    throw new InvalidArgumentError("program", "one that reads or writes other ranks' buffers", "a program of sends and receives");
  }
  if (ranks.length !== program.ranks.length) {
    throw new InvalidArgumentError("ranks", ranks.length, `${program.ranks.length} ranks, as many as the program has`);
  }
  const geometry = { count: segmentBytes, chunksPerSegment: program.chunksPerSegment };
  const slotChunks = Math.max(1, ...program.ranks.map(maxSlotChunks));
  const fitting = Math.max(1, Math.floor(protocolFactsOf(program.protocol).slotPayloadBytes / slotChunks));
  const tileSize = Math.min(tileBytes ?? fitting, Math.max(1, chunkCapacity(geometry)));
  const tiles = tileCount(geometry, tileSize);
  checkInteger("tiles of a chunk", tiles, 1, mostTiles);
  return { program, geometry, tileSize, tiles };
}

function place({ program, ranks }: PlacedProgram, tiling: Tiling, blocks: SimulatedBlock[]): void {
  const connections = new Map<string, Connection>();
  const connection = (from: number, to: number, channel: number): Connection => {
    const key = `${from} ${to} ${channel}`;
    const found = connections.get(key) ?? new Connection(program.slotCount);
    connections.set(key, found);
    return found;
  };
  for (const [index, { blocks: ofRank }] of program.ranks.entries()) {
    const firstBlock = blocks.length;
    for (const { steps } of ofRank) {
      blocks.push({
        rank: ranks[index] ?? 0,
        tiling,
        steps: steps.map((step) => ({
          step,
          incoming: step.recv && connection(step.recv.peer, index, step.recv.channel),
          outgoing: opShapeOf(step.op).sends && step.send ? connection(index, step.send.peer, step.send.channel) : undefined,
          to: ranks[step.send?.peer ?? 0] ?? 0,
          dependencies: (step.dependsOn ?? []).map((other) => ({ block: firstBlock + other.block, step: other.step })),
        })),
        tile: steps.length === 0 ? tiling.tiles : 0,
        step: 0,
        finishesAt: undefined,
        waiting: new Set(),
      });
    }
  }
}
