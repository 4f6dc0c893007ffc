// Runs that bring their counts to a collective that is registered once.
import {
  type BuildableCollective,
  buildProgram,
  collectives,
  dataTypes,
  isExchange,
  listAlgorithms,
  outputSegmentsOf,
  protocols,
  type ReduceOp,
  typedArrayOf,
} from "@dfccl/primitives";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CollectiveOptions,
  CountMismatchError,
  EngineError,
  InvalidArgumentError,
  openWorld,
  type RegisteredCollective,
} from "../src/index.js";
import { bytesOf, elementsOf } from "./support/elements.js";
import { expectFault, thrownBy, untyped } from "./support/faults.js";
import { failureOf, rankOf } from "./support/open.js";
import { inputLength, referenceOutputs } from "./support/reference.js";

const most = 5000;
const sum = { id: 7, collective: "all-reduce", dataType: "float32", count: most, countPerRun: true } as const;

function registerAll(world: ReturnType<typeof openWorld>, options: CollectiveOptions): RegisteredCollective[] {
  return world.ranks.slice(0, options.ranks?.length ?? world.size).map((rank) => rank.register(options));
}

/** Runs it once with a count. @returns whether every byte of the results is right, and none was written behind them. */
async function isRight(registered: readonly RegisteredCollective[], collective: BuildableCollective, op: ReduceOp, count: number) {
  const size = registered.length;
  const { dataType, root } = registered[0] as RegisteredCollective;
  const inputs = registered.map((_, rank) =>
    Array.from({ length: inputLength(collective, size, rank, root, count) }, (_, i) => 1 + ((rank + i) % 2)),
  );
  const expected = referenceOutputs({ collective, op, count, root, inputs, scales: [] }).map((values) => elementsOf(dataType, values));
  const outputs = registered.map(() => new (typedArrayOf(dataType))(outputSegmentsOf(collective, size) * count + 1));
  await Promise.all(registered.map((own, rank) => own.run(elementsOf(dataType, inputs[rank] ?? []), outputs[rank] ?? null, { count })));
  return outputs.every((output, rank) => {
    const right = bytesOf(expected[rank] ?? new Uint8Array());
    const all = Buffer.from(bytesOf(output));
    return all.subarray(0, right.length).equals(right) && all.subarray(right.length).every((byte) => byte === 0);
  });
}

describe("a count per run", () => {
  const names = collectives.filter((name): name is BuildableCollective => name !== "barrier" && name !== "custom");

  it.each(names)("%s of every type is right for any count, small and large", async (collective) => {
    const size = collective === "send-recv" ? 2 : 3;
    using world = openWorld({ ranks: 3 });
    for (const [id, dataType] of dataTypes.entries()) {
      const op = id % 2 === 0 ? "sum" : "max";
      const ranks = Array.from({ length: size }, (_, rank) => rank);
      const registered = registerAll(world, { id, collective, dataType, count: most, countPerRun: true, op, root: 1, ranks });
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.nat(20), fc.nat(most), fc.constantFrom(0, 1, most)), async (count) => {
          expect(await isRight(registered, collective, op, count)).toBe(true);
        }),
        { numRuns: 5 },
      );
      for (const own of registered) own.unregister();
    }
  });

  it("is the registered one where a run brings none, and shows on the collective", async () => {
    using world = openWorld({ ranks: 2 });
    const registered = registerAll(world, { ...sum, count: 3 });
    const x = registered.map(() => new Float32Array(4).fill(1));
    await Promise.all(registered.map((own, rank) => own.run(x[rank], x[rank])));
    expect(x.map((values) => [...values])).toEqual(Array(2).fill([2, 2, 2, 1]));
    expect(registered[0]).toMatchObject({ count: 3, countPerRun: true });
  });

  it("comes with each run of a batch, and of runs that wait for room", async () => {
    using world = openWorld({ ranks: 2, submissionSlots: 16, completionSlots: 16, maxCollectives: 8 });
    const one = new Float32Array(most).fill(1);
    const counts = Array.from({ length: 300 }, (_, i) => (i * 37) % 11);
    const written = await Promise.all(
      registerAll(world, sum).map(async (own) => {
        const runs = counts.map((count) => ({ count, out: new Float32Array(12) }));
        await own.rank.submit(runs.map(({ count, out }) => [own, one, out, count] as const));
        return runs.map(({ out }) => out.filter((value) => value === 2).length);
      }),
    );
    expect(written).toEqual([counts, counts]);
  });

  it.each(listAlgorithms("all-reduce", 4, "either"))("works for programs of one's own: by %s", async (algorithm) => {
    using world = openWorld({ ranks: 4, blocks: 2, slotPayloadBytes: 1024, directTileBytes: 2048 });
    for (const [id, protocol] of protocols.entries()) {
      const program = buildProgram({ collective: "all-reduce", algorithm, ranks: 4, protocol, channels: 3, inPlace: "either" });
      if (isExchange(program)) {
        expectFault(
          thrownBy(() => rankOf(world, 0).register({ ...sum, id, program })),
          "INVALID_PROGRAM",
        );
        continue;
      }
      const registered = registerAll(world, { ...sum, id, program });
      for (const count of [most, 0, 1, 2, 1000, most, 77]) expect(await isRight(registered, "all-reduce", "sum", count)).toBe(true);
    }
  });
});

describe("ranks that bring different counts", () => {
  it("all get an error that names ranks and counts, with nothing moved; other runs go on", async () => {
    using world = openWorld({ ranks: 3 });
    const registered = registerAll(world, { ...sum, ranks: [2, 0, 1] });
    const counts = [5, 6, 5]; // of ranks 0, 1 and 2
    const seen: string[] = [];
    const ended = registered.map(async (own, rank) => {
      const out = new Float32Array(8);
      const x = new Float32Array(8).fill(1);
      const before = own.run(x, new Float32Array(8), { count: 8 });
      const failed = failureOf(own.run(x, out, { count: counts[rank] ?? 0 }));
      const after = own.run(x, x, { count: 2 });
      const batch = own.rank.submit([[own, x, out, counts[rank]]], { onComplete: ({ status }) => seen.push(status) });
      await before;
      await after;
      const error = await failed;
      expect(error).toBeInstanceOf(CountMismatchError);
      expectFault(error, "COUNT_MISMATCH", {
        collective: `all-reduce 7 on rank ${rank}`,
        counts: [
          { rank: 2, count: 5 },
          { rank: 0, count: 5 },
          { rank: 1, count: 6 },
        ],
      });
      expect((error as Error).message).toContain("rank 2 5, rank 0 5, rank 1 6");
      expectFault(await failureOf(batch), "COUNT_MISMATCH");
      expect([...out]).toEqual(Array(8).fill(0));
      expect([...x]).toEqual([3, 3, 1, 1, 1, 1, 1, 1]);
      own.unregister();
    });
    await Promise.all(ended);
    expect(seen).toEqual(["mismatched", "mismatched", "mismatched"]);
  });
});

describe("a count that can't be", () => {
  it("is refused on the rank that brings it, and nothing is submitted", async () => {
    using world = openWorld({ ranks: 2 });
    const [own, other] = registerAll(world, sum) as [RegisteredCollective, RegisteredCollective];
    const x = new Float32Array(most);
    for (const count of [-1, 1.5, most + 1, Number.NaN, Number.POSITIVE_INFINITY, untyped("3"), untyped(null)]) {
      const error = await failureOf(own.run(x, x, { count }));
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expectFault(error, "INVALID_ARGUMENT");
    }
    expectFault(await failureOf(own.run(new Float32Array(3), x, { count: 4 })), "BUFFER");
    await Promise.all([own.run(x, x, { count: 4 }), other.run(x.slice(), x.slice(), { count: 4 })]);
  });

  it("is refused where the collective has one count for all its runs", async () => {
    using world = openWorld({ ranks: 2 });
    const [own] = registerAll(world, { ...sum, countPerRun: false });
    const x = new Float32Array(most);
    expectFault(await failureOf((own as RegisteredCollective).run(x, x, { count: most })), "INVALID_ARGUMENT");
  });
});

describe("registration for a count per run", () => {
  it("is refused where ranks disagree on it, and for what can't serve several", () => {
    using world = openWorld({ ranks: 2 });
    const [first, second] = [rankOf(world, 0), rankOf(world, 1)];
    first.register(sum);
    expectFault(
      thrownBy(() => second.register({ ...sum, countPerRun: false })),
      "REGISTRATION_MISMATCH",
      { field: "countPerRun", mine: "false", theirs: "true" },
    );
    expectFault(
      thrownBy(() => first.register({ ...sum, id: 8, countPerRun: untyped(1) })),
      "INVALID_ARGUMENT",
    );
    const error = thrownBy(() => first.register({ ...sum, id: 8, collective: "barrier", count: 0 }));
    expect(error).toBeInstanceOf(EngineError);
    expectFault(error, "INVALID_ARGUMENT", { field: "countPerRun" });
  });
});
