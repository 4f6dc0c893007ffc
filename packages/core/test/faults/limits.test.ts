import { constants } from "node:buffer";
import { buildProgram, encodeProgram } from "@dfccl/primitives";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinWorld, openWorld, type RegisteredCollective } from "../../src/index.js";
import { nativeAddon } from "../../src/native-addon/native-world.js";
import { engineOf } from "../../src/world.js";
import { expectFault, thrownBy, untyped } from "../support/faults.js";
import { rankOf } from "../support/open.js";

const barrier = { collective: "barrier", dataType: "int8", count: 0 } as const;

describe("out of room", () => {
  it("for collectives, registering fails until one is unregistered", async () => {
    using world = openWorld({ ranks: 1, maxCollectives: 2 });
    const rank = rankOf(world, 0);
    const first = rank.register({ id: 0, ...barrier });
    const second = rank.register({ id: 1, ...barrier });
    expectFault(
      thrownBy(() => rank.register({ id: 2, ...barrier })),
      "OUT_OF_MEMORY",
      { rank: "0", collectives: "2" },
    );
    first.unregister();
    const third = rank.register({ id: 2, ...barrier });
    await rank.submit([[second], [third]]);
  });

  it("for program blocks, registering fails and leaves the rest as it was", async () => {
    using world = openWorld({ ranks: 1, maxCollectives: 4, maxTasks: 4 });
    const rank = rankOf(world, 0);
    const program = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 1, channels: 3, inPlace: "either" });
    const options = { collective: "all-reduce", dataType: "int32", count: 30, program } as const;
    const first = rank.register({ id: 0, ...options });
    expectFault(
      thrownBy(() => rank.register({ id: 1, ...options })),
      "OUT_OF_MEMORY",
      { tasks: "4" },
    );
    const x = new Int32Array(30).fill(3);
    await first.run(x, x);
    first.unregister();
    rank.register({ id: 1, ...options });
  });

  it("for connectors, registering fails on that rank, and works once others have made room", async () => {
    const program = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 2, inPlace: "either" });
    const options = { collective: "all-reduce", dataType: "int32", count: 8, program } as const;
    using world = openWorld({ ranks: 2, arenaBytes: 1 << 20, slotPayloadBytes: 32 << 10 });
    const held: RegisteredCollective[][] = [];
    const registerEverywhere = (id: number): void => {
      held.push(world.ranks.map((rank) => rank.register({ id, ...options })));
    };
    const error = thrownBy(() => {
      for (let id = 0; id < 1000; id += 1) registerEverywhere(id);
    });
    expectFault(error, "OUT_OF_MEMORY", { capacity: String(1 << 20) });
    expect(held.length).toBeGreaterThan(0);
    expect(world.arenaBytesInUse()).toBeGreaterThan(0);
    for (const collective of held.shift() ?? []) collective.unregister();
    registerEverywhere(2000);
    for (const collectives of held) {
      const buffers = collectives.map(() => new Int32Array(8).fill(2));
      await Promise.all(collectives.map((collective, rank) => collective.run(buffers[rank], buffers[rank])));
      expect(buffers.map(([value]) => value)).toEqual([4, 4]);
    }
    for (const collective of held.flat()) collective.unregister();
  });

  it("for a buffer, allocating fails", () => {
    using world = openWorld({ ranks: 1 });
    expectFault(
      thrownBy(() => rankOf(world, 0).allocate("float64", 2 ** 44)),
      "OUT_OF_MEMORY",
    );
    expectFault(
      thrownBy(() => rankOf(world, 0).allocate("float64", -1)),
      "INVALID_ARGUMENT",
      { argument: "length" },
    );
    expect(rankOf(world, 0).allocate("float64", 0)).toHaveLength(0);
  });

  // Node gives memory back that it has no buffer for, and the addon did so too.
  it("for a buffer larger than Node has, allocating fails, alone and joined", async () => {
    using world = openWorld({ ranks: 1 });
    await using joined = await joinWorld({ launch: { rank: 0, size: 1, job: `limits-${process.pid}` } });
    for (const rank of [rankOf(world, 0), joined]) {
      const lengths = [constants.MAX_LENGTH + 1, 2 ** 45, 2 ** 53, 1e300, Number.NaN, Number.POSITIVE_INFINITY, 0.5, untyped("5")];
      for (const length of lengths) {
        const { code } = thrownBy(() => rank.allocate("uint8", length)) as { code: string };
        expect(code, String(length)).toBe(length > 2 ** 32 && length < 2 ** 53 ? "OUT_OF_MEMORY" : "INVALID_ARGUMENT");
      }
      expect(rank.allocate("uint8", 5)).toHaveLength(5);
    }
    for (const bytes of [constants.MAX_LENGTH + 1, 2 ** 53, -1, 0.5, Number.NaN, untyped("5"), untyped(undefined)]) {
      expect(() => nativeAddon().allocate(bytes)).toThrow();
    }
  });
});

describe("a registration", () => {
  it("says what memory it takes, and leaves it to the next one", () => {
    using world = openWorld({ ranks: 4 });
    const program = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 4, inPlace: "either" });
    const options = { collective: "all-reduce", dataType: "int32", count: 8, program } as const;
    const register = (id: number): RegisteredCollective[] => world.ranks.map((rank) => rank.register({ id, ...options }));
    const first = register(0);
    for (const collective of first) expect(collective.memoryBytes()).toBeGreaterThan(1000);
    const inUse = world.arenaBytesInUse();
    expect(inUse).toBeGreaterThan(0);
    for (const collective of first) collective.unregister();
    register(1);
    expect(world.arenaBytesInUse()).toBe(inUse);
  });

  it("of any bytes either succeeds or is refused as an invalid program", () => {
    using world = openWorld({ ranks: 2 });
    const program = buildProgram({ collective: "all-reduce", algorithm: "all-pairs-two-shot", ranks: 2, inPlace: "either" });
    const bytes = encodeProgram(program, 0);
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(bytes.length), (changes, length) => {
        const mutated = Uint8Array.from(bytes.subarray(0, length));
        for (const [at, value] of changes) if (at < length) mutated[at] = value;
        const spec = { id: 1, collective: 0, dataType: 7, op: 0, count: 8, root: 0, scale: 1, priority: 0, ranks: Uint32Array.of(0, 1) };
        try {
          engineOf(world).native.unregister(0, engineOf(world).native.register(0, { ...spec, program: mutated }), 0);
        } catch (error) {
          expect((error as { status: number }).status).toBe(5);
        }
      }),
      { numRuns: 500 },
    );
  });
});
