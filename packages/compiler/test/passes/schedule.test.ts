import { describe, expect, it } from "vitest";
import { broadcast, compile, defineProgram } from "../../src/index.js";
import { assignBlocks } from "../../src/passes/assign-blocks.js";
import { assignChannels } from "../../src/passes/assign-channels.js";
import { type FusedGraph, fuse, unfused } from "../../src/passes/fuse.js";
import { PriorityHeap } from "../../src/passes/priority-heap.js";
import { schedule } from "../../src/passes/schedule.js";
import { synchronize } from "../../src/passes/synchronize.js";
import { randomCustomProgram } from "../support/random-program.js";
import { Seeded } from "../support/seeded.js";
import { instructionsOf, program } from "./support.js";

describe("channels", () => {
  it("are the user's, or the lowest that ties no end to two blocks; parts get their own", () => {
    const crossing = program(5, ({ chunk }) => {
      chunk(0, "input").copy(1, "output", 0).copy(2, "output", 0);
      chunk(0, "input").copy(1, "scratch", 0).copy(3, "output", 0);
      chunk(4, "input").copy(3, "scratch", 0, { channel: 7 });
    });
    const { channels, apart } = assignChannels(fuse(instructionsOf(crossing)));
    expect([channels, apart]).toEqual([[0, 0, 1, 1, 7], []]);
    const parts = compile(
      defineProgram({ collective: broadcast({ ranks: 2, chunks: 2 }), instances: 2 }, ({ chunk }) => {
        for (const to of [0, 1]) chunk(0, "input", 0, 2).copy(to, "output", 0);
      }),
    );
    expect(parts.stages.channels).toEqual([0, 1]);
  });

  it("within a limit: beyond it, fused pairs are named that must be taken apart", () => {
    const crossing = program(5, ({ chunk }) => {
      for (const to of [2, 3, 4])
        chunk(0, "input")
          .copy(1, "scratch", to - 2)
          .copy(to, "output", 0);
    });
    expect(assignChannels(fuse(instructionsOf(crossing)), 3).apart).toEqual([]);
    expect(assignChannels(fuse(instructionsOf(crossing)), 2).apart).toHaveLength(1);
    const limited = compile(crossing, { channelLimit: 1 });
    expect(limited.stages.keptApart).toHaveLength(2);
    expect(Math.max(...limited.stages.channels)).toBe(0);
  });
});

describe("blocks", () => {
  it("have one sending and one receiving end at most, and each end one block", () => {
    const graph = fuse(
      instructionsOf(
        program(4, ({ chunk }) => {
          chunk(0, "input").copy(1, "output", 0).copy(2, "output", 0);
          chunk(1, "input").copy(3, "output", 0);
          chunk(3, "input").copy(1, "scratch", 0);
        }),
      ),
    );
    const { blocks } = assignBlocks(graph, assignChannels(graph).channels);
    expect(blocks[1]?.map(({ sendPeer, recvPeer }) => [recvPeer, sendPeer])).toEqual([
      [0, 2],
      [3, 3],
    ]);
    expect(blocks.map((list) => list.length)).toEqual([1, 2, 1, 1]);
  });
});

describe("the schedule", () => {
  /** Rank 0 sends 1 three chunks, which can take them in the opposite order only. */
  const opposite = program(2, ({ chunk }) => {
    let last = chunk(1, "input").copy(1, "scratch", 0);
    for (const index of [0, 1, 2])
      last = chunk(0, "input")
        .copy(1, "output", 0)
        .copy(1, "scratch", index + 1);
    last.copy(0, "output", 0);
  });

  it("orders everything after what it waits for, messages in turn, with the slots that there are", () => {
    for (const slotCount of [1, 2, 8]) {
      const graph = unfused(instructionsOf(opposite));
      const { channels } = assignChannels(graph);
      const result = schedule(graph, channels, assignBlocks(graph, channels), { slotCount, order: "depth" });
      if (!result.ok) throw new Error("it can be scheduled");
      let inFlight = 0;
      for (const id of result.order) {
        const one = graph.instructions[id];
        if (one?.rank === 0 && one.op === "send") inFlight += 1;
        if (one?.rank === 1 && one.op === "recv") inFlight -= 1;
        expect(inFlight <= slotCount).toBe(true);
      }
      expect(result.order).toHaveLength(graph.instructions.length);
    }
  });

  it("says what is stuck where fused instructions wait for each other; taken apart, they don't", () => {
    let seed = 0;
    let found = compile(randomCustomProgram(seed));
    while (found.stages.keptApart.length === 0 && seed < 2000) found = compile(randomCustomProgram(++seed));
    const { simplified, instructions } = found.stages;
    const slotCount = found.program.slotCount;
    const attempt = (graph: FusedGraph, order: "depth" | "program") => {
      const { channels } = assignChannels(graph);
      return schedule(graph, channels, assignBlocks(graph, channels), { slotCount, order });
    };
    const stuck = attempt(fuse(simplified), "depth");
    expect(stuck.ok === false && stuck.stuck.length > 0).toBe(true);
    expect(attempt(unfused(instructions), "program").ok).toBe(true);
  });
});

describe("synchronization", () => {
  it("awaits the latest step of each other block, and none that another wait implies", () => {
    const definition = program(4, ({ chunk }) => {
      const sum = chunk(1, "input").copy(0, "scratch", 0);
      sum.reduce(chunk(2, "input")).reduce(chunk(3, "input")).copy(0, "output", 0);
    });
    const graph = unfused(instructionsOf(definition));
    const { channels } = assignChannels(graph);
    const blocks = assignBlocks(graph, channels);
    const result = schedule(graph, channels, blocks, { slotCount: 4, order: "depth" });
    if (!result.ok) throw new Error("it can be scheduled");
    const awaits = synchronize(graph, result.order, result.placements);
    const ofRank0 = graph.instructions.filter((one) => one?.rank === 0).map((one) => awaits[one?.id ?? -1]?.length);
    expect(ofRank0).toEqual([0, 1, 1, 0]);
  });
});

describe("the heap", () => {
  it("gives what comes first", () => {
    const random = new Seeded(5);
    const heap = new PriorityHeap((a, b) => a < b);
    const items = Array.from({ length: 200 }, () => random.below(1000));
    for (const item of items) heap.add(item);
    expect(items.map(() => heap.take())).toEqual(items.toSorted((a, b) => a - b));
    expect(heap.take()).toBeUndefined();
  });
});
