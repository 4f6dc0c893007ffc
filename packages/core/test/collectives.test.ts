import { type BuildableCollective, collectives, dataTypes, isDefinedFor, type ReduceOp, reduceOps, takesReduceOp } from "@dfccl/primitives";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openWorld } from "../src/index.js";
import { inputLength } from "./support/reference.js";
import { findDifference } from "./support/run-everywhere.js";

const standard = collectives.filter((collective): collective is BuildableCollective => collective !== "custom");
const opsOf = (collective: BuildableCollective): readonly ReduceOp[] => (takesReduceOp(collective) ? reduceOps : ["sum"]);
const isUnsigned = (dataType: string): boolean => dataType.startsWith("uint");

/**
 * Small whole numbers whose sums, products and averages every type holds exactly, whatever the order: results are then
 * equal to the bit (correctness.md, "Bit-exact").
 */
function elementAt(op: ReduceOp, isSigned: boolean, rank: number, i: number): number {
  if (op === "avg") return (i % 3) + 1;
  if (op === "prod") return 1 + ((rank + i) % 2);
  if (op.startsWith("bit-")) return (5 * rank + 3 * i) % 8;
  const value = (3 * rank + 5 * i) % 3;
  return isSigned && i % 4 === 3 ? -value : value;
}

describe("collectives", () => {
  it.each(standard)("%s gives what its definition says on every data type, with every operator, in place and not", async (collective) => {
    const size = collective === "send-recv" ? 2 : 3;
    const count = 7;
    using world = openWorld({ ranks: size });
    for (const dataType of dataTypes) {
      for (const op of opsOf(collective).filter((any) => isDefinedFor(any, dataType))) {
        for (const inPlace of [false, true]) {
          const root = size - 1;
          const inputs = Array.from({ length: size }, (_, rank) =>
            Array.from({ length: inputLength(collective, size, rank, root, count) }, (__, i) =>
              elementAt(op, !isUnsigned(dataType), rank, i),
            ),
          );
          const test = { collective, dataType, op, count, root, inputs, inPlace, scales: [1, 2, 1] };
          const difference = await findDifference(world, test);
          expect(difference, `${dataType} ${op} ${inPlace ? "in place" : "out of place"}`).toBeUndefined();
        }
      }
    }
  });

  it("holds for any size, root, count, subset of ranks, grid and slice", async () => {
    const sample = fc.record({
      collective: fc.constantFrom(...standard),
      size: fc.integer({ min: 1, max: 5 }),
      spare: fc.integer({ min: 0, max: 2 }),
      rootSeed: fc.nat(100),
      count: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 6, max: 3000 })),
      op: fc.constantFrom(...reduceOps),
      inPlace: fc.boolean(),
      blocks: fc.integer({ min: 1, max: 3 }),
      workers: fc.integer({ min: 0, max: 2 }),
      slotPayloadBytes: fc.constantFrom(256, 1024, 32768),
      shuffle: fc.infiniteStream(fc.nat(1000)),
    });
    await fc.assert(
      fc.asyncProperty(sample, async ({ size: anySize, spare, rootSeed, shuffle, blocks, workers, slotPayloadBytes, ...rest }) => {
        const size = rest.collective === "send-recv" ? 2 : anySize;
        const root = rootSeed % size;
        using world = openWorld({ ranks: size + spare, blocks, workers, slotPayloadBytes, directTileBytes: 2 * slotPayloadBytes });
        const keys = world.ranks.map(({ number }) => ({ number, key: shuffle.next().value as number }));
        const ranks = keys.sort((a, b) => a.key - b.key).map(({ number }) => number);
        const inputs = Array.from({ length: size }, (_, rank) =>
          Array.from({ length: inputLength(rest.collective, size, rank, root, rest.count) }, (__, i) => elementAt(rest.op, true, rank, i)),
        );
        const scales = inputs.map((_, rank) => 1 + (rank % 2));
        const dataType = isDefinedFor(rest.op, "float32") ? ("float32" as const) : ("int32" as const);
        const test = { ...rest, dataType, root, inputs, scales, ranks: ranks.slice(0, size) };
        expect(await findDifference(world, test)).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });
});
