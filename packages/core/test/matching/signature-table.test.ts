// Signatures that come and go: what is long unused is forgotten, and memory doesn't grow.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EngineError, openWorld } from "../../src/index.js";
import { MatchedGroup } from "../../src/matching/matched-group.js";
import type { Signature } from "../../src/matching/signature.js";
import { SignatureTable } from "../../src/matching/signature-table.js";
import { Quarantine } from "../../src/quarantine.js";
import { untyped } from "../support/faults.js";
import { turns } from "../support/open.js";

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const shuffled = <T>(list: readonly T[], seed: number): T[] =>
  fc.sample(fc.shuffledSubarray([...list], { minLength: list.length }), { seed, numRuns: 1 })[0] ?? [];

describe("different signatures", () => {
  it("of 2,000 counts, in a random order on each rank, again and again: exact, and memory doesn't grow", async () => {
    const size = 8;
    using world = openWorld({ ranks: size, maxCollectives: 4096 });
    const counts = indices(2000);
    const memory: number[] = [];
    for (const round of indices(3)) {
      const wrong = await Promise.all(
        world.ranks.map(async (rank) => {
          let wrong = 0;
          await Promise.all(
            shuffled(counts, 8 * round + rank.number).map(async (count) => {
              const x = new Int32Array(count).fill(rank.number + count + round);
              await rank.allReduce(x);
              const sum = 28 + 8 * (count + round);
              if (!x.every((value) => value === sum)) wrong += 1;
            }),
          );
          return wrong;
        }),
      );
      expect(wrong).toEqual(Array(size).fill(0));
      memory.push(world.arenaBytesInUse());
    }
    expect(memory[2]).toBeLessThanOrEqual(memory[0] ?? 0);
  });

  it("more than there are places for, one after the other, take no more memory than there are places", async () => {
    using world = openWorld({ ranks: 2, maxCollectives: 16 });
    const memory: number[] = [];
    for (const round of indices(4)) {
      for (const count of shuffled(indices(200), round)) {
        const xs = world.ranks.map((rank) => new Float64Array(count).fill(rank.number + count));
        await Promise.all(world.ranks.map((rank, i) => rank.allReduce(xs[i] ?? new Float64Array(0))));
        for (const x of xs) expect(x.every((value) => value === 1 + 2 * count)).toBe(true);
      }
      memory.push(world.arenaBytesInUse());
    }
    expect(memory[3]).toBeLessThanOrEqual(memory[0] ?? 0);
  });

  it("in opposite orders on two ranks complete, with sixteen slots", async () => {
    using world = openWorld({ ranks: 2, submissionSlots: 16, completionSlots: 16, maxCollectives: 2048 });
    const tags = indices(1000);
    const results = await Promise.all(
      world.ranks.map((rank) =>
        Promise.all(
          (rank.number === 0 ? tags : tags.toReversed()).map(async (tag) => {
            const x = Int32Array.of(tag);
            await rank.allReduce(x, { tag });
            return x[0] === 2 * tag;
          }),
        ),
      ),
    );
    expect(results.flat().every((isRight) => isRight)).toBe(true);
  });

  it("that one rank has forgotten and another hasn't meet in their order", async () => {
    const size = 3;
    using world = openWorld({ ranks: size, maxCollectives: 8 });
    for (const round of indices(4)) {
      const operations = fc.sample(
        fc.record({ from: fc.nat(2), step: fc.integer({ min: 1, max: 2 }), tag: fc.nat(2), isSum: fc.boolean() }),
        {
          seed: round,
          numRuns: 200,
        },
      );
      const wrong = await Promise.all(
        world.ranks.map(async (rank) => {
          const others = fc.sample(fc.integer({ min: 100, max: 130 }), { seed: 10 * round + rank.number, numRuns: 200 });
          let wrong = 0;
          for (const [i, { from, step, tag, isSum }] of operations.entries()) {
            const to = (from + step) % size;
            const x = Int32Array.of(1000 * i + rank.number);
            if (isSum) {
              await rank.allReduce(x, { tag });
              if (x[0] !== 3000 * i + 3) wrong += 1;
            } else if (rank.number === from) {
              await rank.send(x, to, { tag });
            } else if (rank.number === to) {
              await rank.recv(x, from, { tag });
              if (x[0] !== 1000 * i + from) wrong += 1;
            }
            // Signatures that no other rank has, and more of them on one rank than on another.
            for (const own of others.slice(i, i + ((i + rank.number) % 5 === 0 ? 7 : 0))) {
              const y = Int32Array.of(0);
              await Promise.all([rank.send(Int32Array.of(own), rank.number, { tag: own }), rank.recv(y, rank.number, { tag: own })]);
              if (y[0] !== own) wrong += 1;
            }
          }
          return wrong;
        }),
      );
      expect(wrong).toEqual(Array(size).fill(0));
    }
  });

  it("make room for what the caller registers", async () => {
    using world = openWorld({ ranks: 1, maxCollectives: 8 });
    const [rank] = world.ranks;
    for (const tag of indices(20)) await rank?.barrier({ tag });
    const own = indices(8).map((id) => rank?.register({ id, collective: "barrier", dataType: "int8", count: 0 }).run());
    await Promise.all(own);
  });

  it("all in flight, beyond the places that there are, are refused", async () => {
    using world = openWorld({ ranks: 2, maxCollectives: 8 });
    const [rank] = world.ranks;
    const runs = indices(9).map((tag) => rank?.barrier({ tag }).then(undefined, (error: unknown) => error));
    await turns(3);
    const facts = { rank: "0", calls: 8, collectives: "8" };
    expect(await runs[8]).toMatchObject({ code: "OUT_OF_MEMORY", facts, remedy: expect.stringContaining("maxCollectives") });
    expect(((await runs[8]) as Error).message).toMatch(/^Rank 0 has 8 different calls in flight, and no place for another/);
    expect(await runs[8]).toBeInstanceOf(EngineError);
    expect(rank?.pendingRuns).toBe(8);
  });
});

const keyOf = (signature: Signature, group: number): string => JSON.stringify([{ ...signature, tag: String(signature.tag) }, group]);

/** A table over an engine that this test plays: what it has registered, and which runs of it are in flight. */
function tableOf(most: number, places: number) {
  const registered = new Map<string, { issuedRuns: number; deliveredRuns: number }>();
  const table = new SignatureTable(
    most,
    (signature, group) => {
      const key = keyOf(signature, group.number);
      if (registered.has(key)) throw new Error(`registered twice: ${key}`);
      if (registered.size === places) throw new EngineError("OUT_OF_MEMORY", "No place.", "Wait.", {});
      const registration = { issuedRuns: 0, deliveredRuns: 0 };
      registered.set(key, registration);
      return untyped({ registration, collective: { unregister: () => registered.delete(key) } });
    },
    (collective) => collective.unregister(),
    new Quarantine(),
  );
  return { registered, table };
}

describe("the table", () => {
  it("forgets the least recently used of what has nothing in flight, as a list would", () => {
    const step = fc.record({
      // Few values, and hashes that meet: those differ in the kind alone.
      what: fc.constantFrom("use", "use", "use", "begin", "end", "drop"),
      count: fc.nat(3),
      dataType: fc.constantFrom("int8" as const, "int32" as const, "float32" as const),
      tag: fc.constantFrom(0, 2 ** 40, 2n ** 63n),
      group: fc.nat(1),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 8 }),
        fc.array(step, { maxLength: 150 }),
        (most, places, steps) => {
          const { registered, table } = tableOf(most, places);
          const groups = indices(2).map((number) => new MatchedGroup({ high: 1n, low: 1n }, [0, 1], 0, number));
          // The model: keys in the order of use, the latest last, and runs in flight.
          let used: string[] = [];
          const inFlight = new Map<string, number>();
          const idle = (key: string): boolean => (inFlight.get(key) ?? 0) === 0;
          const forgetOldest = (): boolean => {
            const oldest = used.find(idle);
            if (oldest === undefined) return false;
            used = used.filter((key) => key !== oldest);
            return true;
          };
          for (const { what, count, dataType, tag, group: number } of steps) {
            const group = groups[number] ?? groups[0];
            if (group === undefined) throw new Error("no group");
            const signature: Signature = {
              purpose: "collective",
              collective: "all-reduce",
              dataType,
              op: "sum",
              root: 0,
              receiver: 0,
              countsHash: 0,
              count,
              tag,
            };
            const key = keyOf(signature, number);
            if (what === "drop") {
              table.forget(group);
              used = used.filter((one) => !one.endsWith(`,${number}]`) || !idle(one));
            } else {
              let expected = used.includes(key);
              if (!expected) {
                while (used.length >= most && forgetOldest());
                while (used.length >= places && forgetOldest());
                expected = used.length < places;
              }
              if (!expected) {
                expect(() => table.get(signature, group)).toThrow("No place.");
              } else {
                const { registration } = table.get(signature, group);
                used = [...used.filter((one) => one !== key), key];
                if (what === "begin") {
                  registration.issuedRuns += 1;
                  inFlight.set(key, (inFlight.get(key) ?? 0) + 1);
                } else if (what === "end" && !idle(key)) {
                  registration.deliveredRuns += 1;
                  inFlight.set(key, (inFlight.get(key) ?? 0) - 1);
                }
              }
            }
            expect(table.size).toBe(used.length);
            expect(registered.size).toBe(used.length);
            expect([...registered.keys()].sort()).toEqual([...used].sort());
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
