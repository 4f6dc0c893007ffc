import { describe, expect, it } from "vitest";
import { allGather, allToAll, defineProgram } from "../../src/index.js";
import { traceProgram } from "../../src/language/trace-program.js";
import { AccessTracker } from "../../src/passes/access-tracker.js";
import { buildChunkDag } from "../../src/passes/chunk-dag.js";
import { replicate } from "../../src/passes/replicate.js";
import { once, program } from "./support.js";

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
