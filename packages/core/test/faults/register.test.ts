import { buildProgram, createProgram, DfcclError, type Program } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { type CollectiveOptions, openWorld } from "../../src/index.js";
import { engineOf } from "../../src/world.js";
import { base, expectFault, thrownBy, untyped } from "../support/faults.js";
import { rankOf } from "../support/open.js";

describe("registering", () => {
  const faults: readonly (readonly [name: string, change: Partial<CollectiveOptions>, argument: string])[] = [
    ["an id that isn't whole", { id: 0.5 }, "id"],
    ["an id beyond 32 bits", { id: 2 ** 32 }, "id"],
    ["a negative count", { count: -1 }, "count"],
    ["a count that is no number", { count: Number.NaN }, "count"],
    ["an unknown collective", { collective: untyped("all-to-none") }, "collective"],
    ["an unknown type", { dataType: untyped("float128") }, "dataType"],
    ["an unknown operator", { op: untyped("median") }, "op"],
    ["an unknown operator where none is used", { collective: "all-gather", op: untyped("median") }, "op"],
    ["a root outside the ranks", { collective: "broadcast", root: 3 }, "root"],
    ["no ranks", { ranks: [] }, "ranks"],
    ["something else than ranks", { ranks: untyped(5) }, "ranks"],
    ["a rank that doesn't exist", { ranks: [0, 3] }, "ranks"],
    ["a rank twice", { ranks: [0, 1, 0] }, "ranks"],
    ["ranks without this one", { ranks: [1, 2] }, "ranks"],
    ["three ranks for send-recv", { collective: "send-recv" }, "ranks"],
    ["a priority beyond 32 bits", { priority: 2 ** 31 }, "priority"],
    ["a scale that is no number", { scale: Number.NaN }, "scale"],
    ["half of integers", { dataType: "int32", op: "scaled-sum", scale: 0.5 }, "scale"],
    ["a scale beyond int32", { dataType: "int32", op: "scaled-sum", scale: 1e30 }, "scale"],
    ["a scale beyond int8", { dataType: "int8", op: "scaled-sum", scale: 300 }, "scale"],
    ["a negative scale of uint8", { dataType: "uint8", op: "scaled-sum", scale: -1 }, "scale"],
    ["a scale beyond int64", { dataType: "int64", op: "scaled-sum", scale: 2 ** 63 }, "scale"],
    ["a scale beyond uint64", { dataType: "uint64", op: "scaled-sum", scale: 2 ** 64 }, "scale"],
    ["a scale beyond float32", { op: "scaled-sum", scale: 1e300 }, "scale"],
    ["an infinite scale", { dataType: "float64", op: "scaled-sum", scale: Number.POSITIVE_INFINITY }, "scale"],
    ["bits of a float", { op: "bit-and" }, "op"],
    ["custom without a program", { collective: "custom" }, "program"],
    ["a program for fewer ranks", { program: ring("all-reduce", 2), ranks: [1, 2, 0] }, "program"],
  ];
  it.each(faults)("%s is refused", (_, change, argument) => {
    using world = openWorld({ ranks: 3 });
    expectFault(
      thrownBy(() => rankOf(world, 0).register({ ...base, ...change })),
      "INVALID_ARGUMENT",
      { argument },
    );
  });

  it("the ends of a type's range are scales, and sums that aren't scaled don't care", () => {
    using world = openWorld({ ranks: 1 });
    const ends = [
      ["int8", -128],
      ["uint8", 255],
      ["int32", -(2 ** 31)],
      ["int64", -(2 ** 63)],
      ["uint64", 2 ** 64 - 2048],
      ["float16", 0.5],
    ] as const;
    for (const [dataType, scale] of ends)
      rankOf(world, 0)
        .register({ ...base, dataType, op: "scaled-sum", scale })
        .unregister();
    rankOf(world, 0)
      .register({ ...base, dataType: "int32", scale: 0.5 })
      .unregister();
    const error = thrownBy(() => rankOf(world, 0).register({ ...base, dataType: "uint8", op: "scaled-sum", scale: 256 }));
    expect(String(error)).toContain("scale is 256. Give a whole number from 0 to 256 - 1, by which values of uint8");
  });

  it("a count that no memory holds is refused", () => {
    using world = openWorld({ ranks: 3 });
    expectFault(
      thrownBy(() => rankOf(world, 0).register({ ...base, count: Number.MAX_SAFE_INTEGER })),
      "INVALID_ARGUMENT",
      { field: "count" },
    );
  });

  const misfits: readonly (readonly [name: string, program: Program, change: Partial<CollectiveOptions>, field: string])[] = [
    ["for another collective", ring("all-gather", 3), {}, "collective"],
    ["for more ranks", ring("all-reduce", 4), {}, "rank count"],
    ["for another root", ring("broadcast", 3, 2), { collective: "broadcast", root: 1 }, "root"],
  ];
  it.each(misfits)("a program %s is refused", (_, program, change, field) => {
    using world = openWorld({ ranks: 3 });
    expectFault(
      thrownBy(() => rankOf(world, 0).register({ ...base, ...change, program })),
      "INVALID_PROGRAM",
      { field },
    );
  });

  it("a program that the verifier can't prove is refused", () => {
    using world = openWorld({ ranks: 2 });
    const program = { ...ring("all-reduce", 2), ranks: ring("all-reduce", 2).ranks.map((rank) => ({ ...rank, blocks: [] })) };
    expect(thrownBy(() => rankOf(world, 0).register({ ...base, program }))).toBeInstanceOf(DfcclError);
  });

  it("a count that a custom program's chunks don't divide is refused", () => {
    using world = openWorld({ ranks: 1 });
    const copy = { op: "copy", src: { buffer: "input", chunk: 0 }, dst: { buffer: "output", chunk: 0 }, count: 3 } as const;
    const program = createProgram({
      collective: "custom",
      chunksPerSegment: 3,
      inputSegments: 1,
      outputSegments: 1,
      inPlace: false,
      outOfPlace: true,
      ranks: [{ blocks: [[copy]] }],
    });
    expectFault(
      thrownBy(() => rankOf(world, 0).register({ ...base, collective: "custom", program, count: 4 })),
      "INVALID_ARGUMENT",
      { field: "count" },
    );
  });

  it("the same id twice on one rank is refused", () => {
    using world = openWorld({ ranks: 2 });
    rankOf(world, 0).register(base);
    expectFault(
      thrownBy(() => rankOf(world, 0).register(base)),
      "ALREADY_REGISTERED",
      { id: "7", rank: "0" },
    );
  });

  const broadcast = { ...base, collective: "broadcast" } as const;
  const differences: readonly (readonly [field: string, first: CollectiveOptions, second: CollectiveOptions])[] = [
    ["collective", base, { ...base, collective: "reduce-scatter" }],
    ["dataType", base, { ...base, dataType: "int32" }],
    ["op", base, { ...base, op: "max" }],
    ["count", base, { ...base, count: 5 }],
    ["ranks", base, { ...base, ranks: [0, 1] }],
    ["ranks", base, { ...base, ranks: [0, 2, 1] }],
    ["root", broadcast, { ...broadcast, root: 1 }],
    ["program (digest)", base, { ...base, program: ring("all-reduce", 3) }],
  ];
  it.each(differences)("a %s that differs between ranks is refused, and names both", (field, first, second) => {
    using world = openWorld({ ranks: 3 });
    rankOf(world, 0).register(first);
    const error = thrownBy(() => rankOf(world, 1).register(second));
    expectFault(error, "REGISTRATION_MISMATCH", { field, id: "7", rank: "1" });
    const { mine, theirs } = (error as DfcclError).facts;
    expect(mine).not.toEqual(theirs);
    expect((error as DfcclError).message).toContain(String(mine));
  });

  it("a priority or a scale of a rank's own is no difference", async () => {
    using world = openWorld({ ranks: 2 });
    const runs = world.ranks.map((rank) => {
      const x = Float32Array.of(1, 1, 1, 1);
      const options = { ...base, op: "scaled-sum", priority: rank.number, scale: 1 + rank.number } as const;
      return rank
        .register(options)
        .run(x, x)
        .then(() => x[0]);
    });
    expect(await Promise.all(runs)).toEqual([3, 3]);
  });

  it("bytes that are no program are refused, whatever they are", () => {
    using world = openWorld({ ranks: 1 });
    const spec = { id: 1, collective: 0, dataType: 7, op: 0, count: 4, root: 0, scale: 1, priority: 0, ranks: Uint32Array.of(0) };
    for (const program of [Uint8Array.of(1, 2, 3), new Uint8Array(96), new Uint8Array(4096).fill(255)]) {
      const error = thrownBy(() => engineOf(world).native.register(0, { ...spec, program })) as { status: number; remedy: string };
      expect(error.status).toBe(5);
      expect(error.remedy).not.toBe("");
    }
  });

  it.each([undefined, null, 5])("options that are %s are refused", (options) => {
    using world = openWorld({ ranks: 1 });
    expectFault(
      thrownBy(() => rankOf(world, 0).register(untyped(options))),
      "INVALID_ARGUMENT",
      { argument: "options" },
    );
  });

  it.each([null, 5, {}, { ranks: [null] }, { ranks: [{ blocks: [{}] }] }, { ranks: [{ blocks: [{ steps: [1] }] }] }])(
    "a program that is %o is refused",
    (program) => {
      using world = openWorld({ ranks: 1 });
      expectFault(
        thrownBy(() => rankOf(world, 0).register({ ...base, program: untyped(program) })),
        "BAD_PROGRAM",
      );
    },
  );

  it("a handle that doesn't exist is refused by the engine", () => {
    using world = openWorld({ ranks: 1 });
    for (const handle of [0, 5, 4_000_000_000]) {
      expect((thrownBy(() => engineOf(world).native.abort(0, handle)) as { status: number }).status).toBe(2);
      expect((thrownBy(() => engineOf(world).native.unregister(0, handle, 0)) as { status: number }).status).toBe(2);
      expect((thrownBy(() => engineOf(world).native.explain(0, handle)) as { status: number }).status).toBe(2);
    }
  });
});

function ring(collective: "all-reduce" | "all-gather" | "broadcast", ranks: number, root?: number): Program {
  return buildProgram({ collective, algorithm: "ring", ranks, inPlace: "either", ...(root === undefined ? {} : { root }) });
}
