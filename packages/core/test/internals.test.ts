import { expect, it } from "vitest";
import { type Backend, joinWorld, openWorld, type Rank, World } from "../src/index.js";
import { nativeAddon } from "../src/native-addon/native-world.js";
import { engineOf } from "../src/world.js";
import { base, expectFault, thrownBy, untyped } from "./support/faults.js";

/** Everything that a program gets at from what it holds: fields and getters, whatever they are called. */
function reachableFrom(held: readonly object[]): Set<object> {
  const reached = new Set<object>();
  const visit = (value: unknown): void => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || reached.has(value)) return;
    reached.add(value);
    for (let owner: object | null = value; owner !== null; owner = Object.getPrototypeOf(owner)) {
      for (const key of Reflect.ownKeys(owner)) {
        try {
          visit(Reflect.get(owner, key, value));
        } catch {
          // A getter of another kind of object.
        }
      }
    }
  };
  for (const value of held) visit(value);
  return reached;
}

// world.native.copyIn(0, 0, bytes) wrote to address 0, and writing into a rank's queues has the engine write anywhere.
it("nobody reaches the engine, nor its memory, from what users hold", async () => {
  const world = openWorld({ ranks: 1, workers: 0 });
  const joined = await joinWorld({ launch: { rank: 0, size: 1, job: `internals-${process.pid}` } });
  const held = [world.ranks[0] as Rank<Backend>, joined as Rank<Backend>].flatMap((rank) => {
    const collective = rank.register(base);
    const x = new Float32Array(4);
    return [rank, collective, rank.submit([[rank.register({ ...base, id: 8, buffers: "any" }), x, new Float32Array(4)]])];
  });
  for (const value of reachableFrom([world, joined.world, ...held])) {
    expect(value).not.toBeInstanceOf(nativeAddon().NativeWorld);
    expect(value).not.toBeInstanceOf(ArrayBuffer);
    expect(Object.keys(value)).not.toContain("native");
  }
  // The control: it would be found.
  expect([...reachableFrom([engineOf(world)])].some((value) => value instanceof ArrayBuffer)).toBe(true);
  joined.close();
  world.close();
});

it("a world isn't made around an engine of the caller's", () => {
  for (const engine of [undefined, {}, { native: { memory: () => ({}) }, backend: "cpu", size: 1 }]) {
    expectFault(
      thrownBy(() => new World(untyped(engine), untyped({}), () => [])),
      "INVALID_ARGUMENT",
      { argument: "engine" },
    );
  }
});

it("the addon refuses arguments that are no rank, number, address or array", async () => {
  using world = openWorld({ ranks: 1, workers: 0 });
  const { native } = engineOf(world);
  const bytes = new Uint8Array(4);
  const wrong: readonly (() => unknown)[] = [
    () => native.copyIn(0, 0, bytes),
    () => native.copyIn(0, -8, bytes),
    () => native.copyIn(0, 2 ** 60, bytes),
    () => native.copyIn(0, untyped("8"), bytes),
    () => native.copyIn(0, 4096, untyped(5)),
    () => native.copyIn(0, 4096, untyped(new Float32Array(4))),
    () => native.copyIn(1, 4096, bytes),
    () => native.copyOut(0, untyped(undefined), 4096),
    () => native.copyOut(0, bytes, 0.5),
    () => native.freeOnDevice(0, 0, 4),
    () => native.freeOnDevice(0, 4096, -1),
    () => native.allocateOnDevice(0, 2 ** 53),
    () => native.allocateOnDevice(0, -1),
    () => native.free(new ArrayBuffer(8)),
    () => native.free(untyped(bytes)),
    () => native.free(untyped(undefined)),
    () => native.unregister(0, 0, untyped("x")),
    () => native.register(0, untyped(5)),
    () => native.register(0, untyped({})),
    () => native.isStayOver(0, untyped({})),
    () => native.noteSynchronizing(0, untyped(1e9)),
    () => native.synchronize(0, untyped("x")),
    () => native.setWaker(untyped(5)),
    () => new (nativeAddon().NativeWorld)(untyped(undefined)),
  ];
  for (const act of wrong) expect(act, String(act)).toThrow();
  native.referenceWaker(untyped(5));
  expect(native.drive(untyped("x"))).toBe(false);
});
