import { type BuildOptions, buildProgram, createProgram, type Program } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { type Cluster, h200BlockCosts as costs, type PlacedProgram, simulatePrograms } from "../../src/index.js";

const cluster: Cluster = {
  gpusPerNode: 4,
  cardsPerNode: 2,
  island: { alphaNs: 700, gigabytesPerSecond: 350 },
  network: { alphaNs: 5000, gigabytesPerSecond: 25 },
};

function run(program: Program, segmentBytes: number, options: { tileBytes?: number; ranks?: readonly number[] } = {}) {
  const { ranks = program.ranks.map((_, rank) => rank), ...others } = options;
  return simulatePrograms([{ program, ranks, segmentBytes }], { cluster, ...others });
}

const sendRecv = (): Program => buildProgram({ collective: "send-recv", algorithm: "point-to-point", ranks: 2, root: 0 });
const allReduce = (options: Partial<BuildOptions>): Program =>
  buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 8, inPlace: "either", ...options });

describe("a message", () => {
  const bytes = 30_000;
  const copying = costs.stepNs + bytes / costs.blockGigabytesPerSecond;

  it("within a node takes the block's time, the latency and the receiver's time", () => {
    expect(run(sendRecv(), bytes)).toEqual({ endNs: copying + cluster.island.alphaNs + copying, steps: 2, networkBytes: 0 });
  });

  it("to another node goes over the card, after the block has read it", () => {
    const card = costs.messageNs + bytes / cluster.network.gigabytesPerSecond;
    const { endNs, networkBytes } = run(sendRecv(), bytes, { ranks: [3, 4] });
    expect(endNs).toBeCloseTo(copying + card + cluster.network.alphaNs + copying, 6);
    expect(networkBytes).toBe(bytes);
  });

  it("through the only slot waits until the sender knows that the one before was read", () => {
    const program = { ...sendRecv(), slotCount: 1 };
    const oneWay = copying + cluster.island.alphaNs;
    expect(run(program, 2 * bytes, { tileBytes: bytes }).endNs).toBeCloseTo(2 * oneWay + oneWay + copying, 6);
  });

  it("in LL carries as many flags as data", () => {
    const program = buildProgram({ collective: "send-recv", algorithm: "point-to-point", ranks: 2, root: 0, protocol: "ll" });
    expect(run(program, 8000, { ranks: [3, 4] }).networkBytes).toBe(16_000);
  });
});

it("takes as many programs as there is memory for", () => {
  // As arguments of one call, so many overflowed the stack.
  const one: PlacedProgram = { program: sendRecv(), ranks: [0, 1], segmentBytes: 4 };
  const pairs = Array.from({ length: 80_000 }, () => one);
  expect(simulatePrograms(pairs, { cluster }).steps).toBe(2 * pairs.length);
});

describe("links", () => {
  // Enough slots that the latency doesn't keep a link idle.
  const program = { ...sendRecv(), slotCount: 16 };
  const pair = (from: number, to: number): PlacedProgram => ({ program, ranks: [from, to], segmentBytes: 2 ** 24 });
  const on = (links: Cluster, ...pairs: readonly (readonly [number, number])[]): number =>
    simulatePrograms(
      pairs.map(([from, to]) => pair(from, to)),
      { cluster: links },
    ).endNs;
  const together = (...pairs: readonly (readonly [number, number])[]): number => on(cluster, ...pairs);

  it("are shared by the GPUs of a card, and not by those of another card", () => {
    const alone = together([0, 4]);
    expect(together([0, 4], [1, 5]) / alone).toBeCloseTo(2, 1);
    expect(together([0, 4], [2, 6])).toBe(alone);
  });

  it("into a machine are shared by all that send to it", () => {
    expect(together([0, 8], [4, 8]) / together([0, 8])).toBeCloseTo(2, 1);
  });

  it("of a GPU are shared by all that it sends to, and by all that send to it", () => {
    // Slower than blocks, so that the link is what limits.
    const slow = { ...cluster, island: { alphaNs: 700, gigabytesPerSecond: 10 } };
    const alone = on(slow, [0, 1]);
    expect(on(slow, [0, 1], [0, 2]) / alone).toBeCloseTo(2, 1);
    expect(on(slow, [0, 2], [1, 2]) / alone).toBeCloseTo(2, 1);
    expect(on(slow, [0, 1], [2, 3])).toBe(alone);
  });

  it("send and receive at the same time", () => {
    expect(together([0, 4], [4, 0])).toBe(together([0, 4]));
  });

  it("carry no more than their bandwidth: a long message takes bytes / bandwidth and what each tile's message costs", () => {
    const [bytes, tile] = [2 ** 24, 32_768];
    const { gigabytesPerSecond } = cluster.network;
    const perTile = costs.messageNs + tile / gigabytesPerSecond;
    const endNs = together([0, 4]);
    expect(endNs).toBeGreaterThan((bytes / tile) * perTile);
    expect(endNs).toBeLessThan((bytes / tile) * perTile + 20_000);
  });
});

describe("a program", () => {
  it("moves over the network what the ring's formula says: each of two borders carries 2(R - 1)/R of the data", () => {
    const bytes = 8 * 32_768;
    expect(run(allReduce({}), bytes).networkBytes).toBe(2 * ((2 * 7) / 8) * bytes);
  });

  it("takes its slots as they become free: with more of them, more is under way", () => {
    const program = sendRecv();
    const times = [1, 2, 4].map((slotCount) => run({ ...program, slotCount }, 2 ** 22, { ranks: [0, 4] }).endNs);
    expect(times.toSorted((a, b) => b - a)).toEqual(times);
    expect(new Set(times).size).toBe(3);
  });

  it("waits for other blocks of its rank", () => {
    const copy = { op: "copy", count: 1, src: { buffer: "input", chunk: 0 }, dst: { buffer: "output", chunk: 0 } } as const;
    const reads = { op: "copy", count: 1, src: { buffer: "output", chunk: 0 }, dst: { buffer: "output", chunk: 1 } } as const;
    const blocks = (dependsOn: { block: number; step: number }[]): Program =>
      createProgram({
        collective: "custom",
        chunksPerSegment: 1,
        inputSegments: 1,
        outputSegments: 2,
        inPlace: false,
        outOfPlace: true,
        ranks: [{ blocks: [[copy], [{ ...reads, dependsOn }]] }],
      });
    const [free, waiting] = [run(blocks([]), 1000), run(blocks([{ block: 0, step: 0 }]), 1000)];
    expect(waiting.endNs).toBe(2 * free.endNs);
  });

  it("finishes alike, however often it is simulated", () => {
    const program = allReduce({ channels: 2 });
    expect(run(program, 2 ** 20)).toEqual(run(program, 2 ** 20));
  });
});

describe("refuses", () => {
  it.each([
    [
      "programs that need shared memory",
      buildProgram({ collective: "all-gather", algorithm: "direct", ranks: 4 }),
      [0, 1, 2, 3],
      /sends and receives/,
    ],
    ["ranks that don't fit", sendRecv(), [0, 1, 2], /2 ranks/],
    ["programs that can't end", waitsForever(), [0, 1], /waits for ever \(rank 0 of the cluster, step 0\)/],
  ])("%s", (_, program, ranks, message) => {
    expect(() => run(program, 1000, { ranks })).toThrow(message);
  });
});

function waitsForever(): Program {
  const program = sendRecv();
  return { ...program, ranks: program.ranks.map((rank) => ({ ...rank, blocks: program.ranks[1]?.blocks ?? [] })) };
}
