import { buildProgram, createProgram, listAlgorithms, protocols, type Step } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { openWorld } from "../src/index.js";
import { findDifference } from "./support/run-everywhere.js";

const inputs = (ranks: number, count: number): number[][] =>
  Array.from({ length: ranks }, (_, rank) => Array.from({ length: count }, (__, i) => (rank + 2 * i) % 5));

describe("a program of the caller's own", () => {
  const algorithms = listAlgorithms("all-reduce", 4, "either");

  it.each(algorithms)(
    "all-reduce by %s computes the sum with every protocol, and with more blocks than the grid has",
    async (algorithm) => {
      for (const protocol of protocols) {
        for (const channels of [1, 5]) {
          for (const blocks of [1, 2]) {
            using world = openWorld({ ranks: 4, blocks, slotPayloadBytes: 1024, directTileBytes: 2048 });
            const program = buildProgram({ collective: "all-reduce", algorithm, ranks: 4, protocol, channels, inPlace: "either" });
            for (const inPlace of [false, true]) {
              const count = 5000;
              const test = { op: "sum", count, root: 0, inputs: inputs(4, count), scales: [], inPlace } as const;
              const difference = await findDifference(world, { ...test, collective: "all-reduce", dataType: "float32", program });
              expect(difference, `${protocol}, ${channels} channels, ${blocks} blocks`).toBeUndefined();
            }
          }
        }
      }
    },
  );

  it.each([2, 3, 4, 5, 6, 7, 8])(
    "all-reduce in phases on %i ranks: all is reduced before anything is copied, over many tiles",
    async (ranks) => {
      for (const channels of [1, 4]) {
        const program = buildProgram({ collective: "all-reduce", algorithm: "direct-two-shot-in-phases", ranks, channels });
        for (const blocks of [1, 2]) {
          using world = openWorld({ ranks, blocks, directTileBytes: 2048 });
          // Three tiles of each chunk and a bit; then less than a chunk for each.
          for (const count of [3 * 512 * ranks * channels + 17, 5]) {
            for (const inPlace of [false, true]) {
              const test = { op: "avg", count, root: 0, inputs: inputs(ranks, count), scales: [], inPlace } as const;
              const difference = await findDifference(world, { ...test, collective: "all-reduce", dataType: "float32", program });
              expect(difference, `${count} elements, ${channels} channels, ${blocks} blocks, in place ${inPlace}`).toBeUndefined();
            }
          }
        }
      }
    },
  );

  it("may compute what no standard collective does: each rank's data moves on by one", async () => {
    const ranks = 3;
    const rotate = createProgram({
      collective: "custom",
      protocol: "ll",
      chunksPerSegment: 2,
      inputSegments: 1,
      outputSegments: 1,
      inPlace: false,
      outOfPlace: true,
      ranks: Array.from({ length: ranks }, (_, rank) => {
        const send: Step = { op: "send", src: { buffer: "input", chunk: 0 }, count: 2, send: { peer: (rank + 1) % ranks, channel: 0 } };
        const from = (rank + ranks - 1) % ranks;
        const recv: Step = { op: "recv", dst: { buffer: "output", chunk: 0 }, count: 2, recv: { peer: from, channel: 0 } };
        return { blocks: [[send, recv]] };
      }),
    });
    using world = openWorld({ ranks });
    const outputs = await Promise.all(
      world.ranks.map(async (rank) => {
        const collective = rank.register({ id: 1, collective: "custom", dataType: "int32", count: 1000, program: rotate });
        const recv = new Int32Array(1000);
        for (let run = 0; run < 3; run += 1) await collective.run(new Int32Array(1000).fill(10 * run + rank.number), recv);
        return [recv[0], recv[999]];
      }),
    );
    expect(outputs).toEqual([
      [22, 22],
      [20, 20],
      [21, 21],
    ]);
  });
});
