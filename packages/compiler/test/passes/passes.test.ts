import { describe, expect, it } from "vitest";
import { allGather, allReduce, allToAll, broadcast, compile, custom, defineProgram, type ProgramDefinition } from "../../src/index.js";
import { traceProgram } from "../../src/language/trace-program.js";
import { absorbReceives } from "../../src/passes/absorb-receives.js";
import { AccessTracker } from "../../src/passes/access-tracker.js";
import { assignBlocks } from "../../src/passes/assign-blocks.js";
import { assignChannels } from "../../src/passes/assign-channels.js";
import { buildChunkDag } from "../../src/passes/chunk-dag.js";
import { Contraction } from "../../src/passes/contraction.js";
import { type FusedGraph, fuse, unfused } from "../../src/passes/fuse.js";
import { mergeReductions } from "../../src/passes/merge-reductions.js";
import { PriorityHeap } from "../../src/passes/priority-heap.js";
import { replicate } from "../../src/passes/replicate.js";
import { schedule } from "../../src/passes/schedule.js";
import { synchronize } from "../../src/passes/synchronize.js";
import { randomCustomProgram } from "../support/random-program.js";
import { Seeded } from "../support/seeded.js";
import { instructionsOf, once, opsOf } from "./support.js";

const anything = (ranks: number, chunks = 1) =>
  custom({ name: "anything", ranks, inputChunks: chunks, outputChunks: chunks, postcondition: () => undefined });
const program = (ranks: number, body: ProgramDefinition<"output" | "scratch">["body"], chunks = 1) =>
  defineProgram({ collective: anything(ranks, chunks) }, body);

/** Rank 0's data goes to 1 and on to 2. */
const relay = (first?: number, second?: number) =>
  program(3, ({ chunk }) => {
    chunk(0, "input").copy(1, "output", 0, { channel: first }).copy(2, "output", 0, { channel: second });
  });

describe("replicate", () => {
  const trace = traceProgram(
    defineProgram({ collective: allGather({ ranks: 2, chunks: 3 }) }, ({ chunk, parallelize }) => {
      for (const rank of [0, 1]) {
        chunk(rank, "input", 0, 3).copy(rank, "output", 3 * rank);
        parallelize(2, () => chunk(rank, "input", 0, 3).copy(1 - rank, "output", 3 * rank));
      }
    }),
  );

  it("cuts chunks as finely as every factor needs, and spans into contiguous shares", () => {
    const { operations, finerChunks, signature } = replicate(trace, { instances: 3, replication: "interleaved" });
    expect([finerChunks, signature.chunksPerSegment]).toEqual([6, 18]);
    expect(operations.slice(0, 3).map(({ src, dst, part }) => [src.index, dst.index, src.count, part])).toEqual([
      [0, 0, 6, 0],
      [6, 6, 6, 1],
      [12, 12, 6, 2],
    ]);
    expect(operations.filter(({ src, dst }) => src.rank !== dst.rank)).toHaveLength(12);
  });

  it("gives blocked instances their part of each segment", () => {
    const { operations } = replicate(trace, { instances: 2, replication: "blocked" });
    // Six finer chunks an instance and segment: rank 1's segment begins at 12.
    const copies = operations.filter(({ src, dst }) => src.rank === 1 && dst.rank === 1);
    expect(
      copies.map(({ src, dst, count = src.count }: (typeof copies)[number] & { count?: number }) => [src.index, dst.index, count]),
    ).toEqual([
      [0, 12, 6],
      [6, 18, 6],
    ]);
  });

  it("refuses blocked instances of a span over several segments", () => {
    const across = traceProgram(
      defineProgram({ collective: allToAll({ ranks: 2 }) }, ({ chunk }) => {
        for (const rank of [0, 1]) chunk(rank, "input", 0, 2).copy(0, "scratch", 2 * rank);
        for (const [to, from] of [
          [0, 0],
          [0, 1],
          [1, 0],
          [1, 1],
        ] as const)
          chunk(0, "scratch", 2 * from + to).copy(to, "output", from);
      }),
    );
    expect(() => replicate(across, { instances: 2, replication: "blocked" })).toThrow(/reaches over several segments/);
    expect(replicate(across, { instances: 2, replication: "interleaved" }).operations).toHaveLength(12);
  });
});

describe("the chunk DAG", () => {
  it("knows who needs whose data, and who overwrites what another still needs", () => {
    const definition = program(3, ({ chunk }) => {
      chunk(0, "input").copy(1, "scratch", 0); // 0
      chunk(1, "scratch").copy(2, "output", 0); // 1 needs 0
      chunk(2, "input").copy(1, "scratch", 0); // 2 must leave 1 its data
      chunk(1, "scratch").reduce(chunk(0, "input")); // 3 adds to 2
    });
    expect(buildChunkDag(replicate(traceProgram(definition), once)).edges).toEqual([
      { from: 0, to: 1, kind: "data" },
      { from: 1, to: 2, kind: "reuse" },
      { from: 2, to: 3, kind: "data" },
    ]);
  });

  it("lets readers be, and makes a writer wait for all of them, or else for the last writer", () => {
    const tracker = new AccessTracker();
    const span = { rank: 0, buffer: "scratch", index: 0, count: 2 } as const;
    expect([...tracker.write(0, span)]).toEqual([]);
    expect([[...tracker.read(1, span)], [...tracker.read(2, { ...span, count: 1 })]]).toEqual([[0], [0]]);
    expect([...tracker.write(3, span)]).toEqual([1, 2]);
    expect([...tracker.write(4, span)]).toEqual([3]);
  });
});

describe("instructions", () => {
  it("are one within a rank and two between ranks", () => {
    expect(
      opsOf(
        instructionsOf(
          program(2, ({ chunk }) => {
            const c = chunk(0, "input").copy(0, "scratch", 0);
            c.reduce(chunk(1, "input")).reduce(chunk(0, "input"));
          }),
        ),
      ),
    ).toEqual(["0 copy", "1 send", "0 recvReduceCopy", "0 reduce"]);
  });

  it("name raw data input and written data output, and bring raw chunks over where a span has both", () => {
    const definition = defineProgram({ collective: allReduce({ ranks: 2, chunks: 2, inPlace: true }) }, ({ chunk }) => {
      chunk(0, "input", 0).reduce(chunk(1, "input", 0));
      chunk(0, "input", 1).copy(1, "scratch", 0);
      const all = chunk(0, "input", 0, 2).copy(1, "scratch", 1); // 0 is a sum, 1 still raw
      chunk(0, "input", 1).reduce(chunk(1, "input", 1));
      all.copy(0, "scratch", 0);
      chunk(0, "output", 0, 2).copy(1);
    });
    const { instructions } = instructionsOf(definition);
    const sources = instructions.filter((one) => one?.rank === 0 && one.op === "send").map((one) => [one?.src?.buffer, one?.count]);
    expect(sources).toEqual([
      ["input", 1],
      ["output", 2],
      ["output", 2],
    ]);
    const broughtOver = instructions.find((one) => one?.op === "copy" && one.operations.length === 0);
    expect([broughtOver?.src, broughtOver?.dst]).toEqual([
      { buffer: "input", chunk: 1 },
      { buffer: "output", chunk: 1 },
    ]);
  });
});

describe("absorbing receives", () => {
  it("makes one instruction of a receive and the reduction that is its only use", () => {
    const definition = (reads: boolean) =>
      program(2, ({ chunk }) => {
        const c = chunk(0, "input").copy(1, "scratch", 0);
        if (reads) chunk(1, "scratch").copy(1, "scratch", 1);
        (reads ? chunk(1, "scratch") : c).reduce(chunk(1, "input")).copy(1, "output", 0);
      });
    expect(opsOf(absorbReceives(instructionsOf(definition(false))))).toEqual(["0 send", "1 recvReduceCopy", "1 copy"]);
    expect(opsOf(absorbReceives(instructionsOf(definition(true))))).toEqual(["0 send", "1 recv", "1 copy", "1 reduce", "1 copy"]);
  });
});

describe("merging reductions", () => {
  it("makes one sum of a row of them and the copy behind it, in the same order", () => {
    const definition = program(
      1,
      ({ chunk }) => {
        const sum = chunk(0, "input", 2).copy(0, "scratch", 0);
        sum
          .reduce(chunk(0, "input", 0))
          .reduce(chunk(0, "input", 1))
          .copy(0, "output", 0);
      },
      3,
    );
    const merged = mergeReductions(instructionsOf(definition)).instructions.filter((one) => one !== undefined);
    expect(merged.map(({ op }) => op)).toEqual(["copy", "multiReduceCopy"]);
    expect(merged[1]?.sources?.map(({ buffer, chunk }) => `${buffer} ${chunk}`)).toEqual(["scratch 0", "input 0", "input 1"]);
    expect(merged[1]?.dst).toEqual({ buffer: "output", chunk: 0 });
  });

  it("leaves a partial sum that somebody else reads", () => {
    const definition = program(
      1,
      ({ chunk }) => {
        const partial = chunk(0, "input", 2)
          .copy(0, "output", 0)
          .reduce(chunk(0, "input", 0));
        partial.copy(0, "output", 1);
        partial.reduce(chunk(0, "input", 1));
      },
      3,
    );
    expect(opsOf(mergeReductions(instructionsOf(definition)))).toEqual(["0 copy", "0 reduce", "0 copy", "0 reduce"]);
  });
});

describe("fusing", () => {
  it("joins what comes in with what goes out: rcs, rrcs, and rrs where nobody needs the sum", () => {
    expect(opsOf(fuse(instructionsOf(relay())))).toEqual(["0 send", "1 recvCopySend", "2 recv"]);
    const kept = program(3, ({ chunk }) => chunk(1, "input").copy(1, "output", 0).reduce(chunk(0, "input")).copy(2, "output", 0));
    expect(opsOf(fuse(instructionsOf(kept)))).toEqual(["1 copy", "0 send", "1 recvReduceCopySend", "2 recv"]);
    const passedOn = program(3, ({ chunk }) => chunk(1, "input").copy(1, "scratch", 0).reduce(chunk(0, "input")).copy(2, "output", 0));
    expect(opsOf(fuse(instructionsOf(passedOn)))).toEqual(["1 copy", "0 send", "1 recvReduceSend", "2 recv"]);
  });

  it("takes the send with the longest way to go", () => {
    const definition = program(4, ({ chunk }) => {
      const c = chunk(0, "input").copy(1, "output", 0);
      c.copy(2, "output", 0);
      c.copy(3, "scratch", 0).copy(2, "scratch", 0);
    });
    const [joined] = fuse(instructionsOf(definition)).instructions.filter((one) => one?.op === "recvCopySend" && one.rank === 1);
    expect(joined?.operations).toEqual([0, 2]);
  });

  it("keeps apart what directives put on different channels, or what a third must run between", () => {
    expect(opsOf(fuse(instructionsOf(relay(0, 1))))).toEqual(["0 send", "1 recv", "1 send", "2 recv"]);
    expect(opsOf(fuse(instructionsOf(relay(1, 1))))).toEqual(["0 send", "1 recvCopySend", "2 recv"]);
    const contraction = new Contraction([[], [0], [0, 1]]);
    expect([contraction.merge(0, 2), contraction.merge(0, 1), contraction.merge(0, 2)]).toEqual([false, true, true]);
  });

  it("never makes a circle, in random graphs", () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = new Seeded(seed);
      const size = 12;
      const waits = Array.from({ length: size }, (_, node) =>
        Array.from({ length: node }, (__, other) => other).filter(() => random.chance(0.25)),
      );
      const contraction = new Contraction(waits);
      const group = Array.from({ length: size }, (_, node) => node);
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const second = random.below(size);
        const first = waits[second]?.[0];
        if (first === undefined || group[first] !== first || group[second] !== second) continue;
        const wouldBe = group.map((of) => (of === second ? first : of));
        const merged = contraction.merge(first, second);
        expect(merged, `seed ${seed}`).toBe(!hasCircle(waits, wouldBe));
        if (merged) group.splice(0, size, ...wouldBe);
      }
    }
  });
});

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

function hasCircle(waits: readonly (readonly number[])[], group: readonly number[]): boolean {
  const next = new Map<number, Set<number>>();
  waits.forEach((list, node) => {
    for (const other of list) {
      const [from, to] = [group[node] ?? node, group[other] ?? other];
      if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
    }
  });
  const reaches = (from: number, target: number, seen = new Set<number>()): boolean =>
    [...(next.get(from) ?? [])].some((to) => to === target || (!seen.has(to) && reaches(to, target, seen.add(to))));
  return [...next.keys()].some((node) => reaches(node, node));
}
