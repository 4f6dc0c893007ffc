// The lists of a submission may have getters: they are read once, before anything is locked.
import { describe, expect, it } from "vitest";
import { openWorld, type RunRequest, type World } from "../src/index.js";
import { base, expectFault, thrownBy, untyped } from "./support/faults.js";
import { failureOf, rankOf } from "./support/open.js";

const four = (value = 0): Float32Array => new Float32Array(4).fill(value);

function pair(world: World) {
  const [a, b] = [rankOf(world, 0), rankOf(world, 1)];
  return { a, b, own: a.register(base), other: b.register(base) };
}

/** A request whose every property may be read once; later, what it holds throws. */
function readableOnce(request: RunRequest): RunRequest {
  const seen = new Set<PropertyKey>();
  return new Proxy([...request], {
    get: (target, key) => {
      if (seen.has(key)) throw new Error(`${String(key)} is read again`);
      seen.add(key);
      return Reflect.get(target, key);
    },
  }) as unknown as RunRequest;
}

describe("a submission", () => {
  it.each([
    ["with room", {}],
    ["that has to wait", { submissionSlots: 8, completionSlots: 8 }],
  ])("reads each request once, %s", async (_name, slots) => {
    using world = openWorld({ ranks: 2, ...slots });
    const { a, b, own, other } = pair(world);
    const results = Array.from({ length: 20 }, () => four());
    const requests = results.map((recv) => readableOnce([own, four(1), recv]));
    const batch = a.submit(requests);
    await Promise.all([batch, b.submit(results.map(() => [other, four(2), four()] as const))]);
    expect(results.map(([value]) => value)).toEqual(results.map(() => 3));
  });

  it("whose list throws leaves the queue to the next one", async () => {
    using world = openWorld({ ranks: 2 });
    const { a, own, other } = pair(world);
    for (let reads = 0; reads < 4; reads += 1) {
      let left = reads;
      const request = new Proxy([own, four(), four()], {
        get: (target, key) => {
          left -= 1;
          if (left < 0) throw new Error("no more");
          return Reflect.get(target, key);
        },
      });
      expectFault(
        thrownBy(() => a.submit([untyped(request)])),
        "INVALID_ARGUMENT",
      );
    }
    const y = four();
    await Promise.all([own.run(four(1), y), other.run(four(2), four())]);
    expect([...y]).toEqual([3, 3, 3, 3]);
  });

  it("runs on the buffers that it has checked", async () => {
    using world = openWorld({ ranks: 2 });
    const { a, b, own, other } = pair(world);
    const given: Float32Array[] = [];
    const request = Object.defineProperty([own, four(1)], 2, {
      get: () => {
        given.push(four());
        return given.at(-1);
      },
    });
    await Promise.all([a.submit([untyped(request)]), b.submit([[other, four(2), four()]])]);
    expect(given.map((recv) => [...recv])).toEqual([[3, 3, 3, 3]]);
  });

  it("may be made by a getter of another one's", async () => {
    using world = openWorld({ ranks: 2 });
    const { a, b, own, other } = pair(world);
    const [inner, outer] = [four(), four()];
    const request = Object.defineProperty([own, four(1)], 2, {
      get: () => {
        a.submit([[own, four(5), inner]]);
        return outer;
      },
    });
    await Promise.all([a.submit([untyped(request)]), b.submit([0, 1].map(() => [other, four(2), four()] as const))]);
    expect([inner[0], outer[0]]).toEqual([7, 3]);
  });

  it("isn't made where a getter closes the world", async () => {
    const world = openWorld({ ranks: 2 });
    const { a, own } = pair(world);
    const x = four();
    const before = own.run(x, x);
    const request = Object.defineProperty([own, x], 2, {
      get: () => {
        world.close();
        return x;
      },
    });
    expectFault(
      thrownBy(() => a.submit([untyped(request)])),
      "CLOSED",
    );
    expectFault(await failureOf(before), "CLOSED");
  });

  it.each([1.5, Number.NaN, -1, 2 ** 53])("of a list that says it has %s runs is refused", (length) => {
    using world = openWorld({ ranks: 2 });
    const { a, own } = pair(world);
    const requests = new Proxy([[own, four(), four()] as RunRequest], {
      get: (target, key) => (key === "length" ? length : Reflect.get(target, key)),
    });
    expectFault(
      thrownBy(() => a.submit(requests)),
      "INVALID_ARGUMENT",
    );
    expect(a.pendingRuns).toBe(0);
  });

  it("asks no buffer what it says of itself", async () => {
    using world = openWorld({ ranks: 2 });
    const { own, other } = pair(world);
    const told: string[] = [];
    const tell = (name: string) => ({ get: () => told.push(name), configurable: true });
    const [x, y] = [four(1), four()];
    Object.defineProperty(y.buffer, "byteLength", tell("byteLength"));
    for (const name of ["byteLength", "byteOffset", "buffer", "length"]) Object.defineProperty(y, name, tell(name));
    for (const name of ["resizable", "byteLength"]) Object.defineProperty(x.buffer, name, tell(name));
    for (let i = 0; i < 2; i += 1) await Promise.all([own.run(x, y), other.run(four(2), four())]);
    expect(told).toEqual([]);
  });
});
