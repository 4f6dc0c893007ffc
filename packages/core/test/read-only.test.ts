import { InvalidArgumentError } from "@dfccl/primitives";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DeviceBuffer, openWorld, type World } from "../src/index.js";

let world: World;
beforeEach(() => {
  world = openWorld({ ranks: 2 });
});
afterEach(() => world.close());

const kinds: Record<string, () => object> = {
  world: () => world,
  rank: () => world.ranks[0] as object,
  group: () => (world.ranks[0]?.group([0, 1]) ?? {}) as object,
  collective: () => world.ranks[0]?.register({ id: 7, collective: "all-reduce", dataType: "float32", count: 4 }) ?? {},
};

it.each(Object.keys(kinds))("nothing that a %s shows can be assigned, nor what its lists hold", (kind) => {
  const object = kinds[kind]?.() as Record<string, unknown>;
  const keys = Object.keys(object);
  expect(keys.length).toBeGreaterThan(1);
  for (const key of keys) {
    const before = object[key];
    expect(() => {
      object[key] = 1e9;
    }, key).toThrow(TypeError);
    expect(object[key]).toBe(before);
    expect(() => Object.defineProperty(object, key, { value: 1e9 }), key).toThrow(TypeError);
    if (Array.isArray(before)) expect(() => before.push(9), key).toThrow(TypeError);
  }
});

it("a buffer of a GPU comes from its rank, and from nowhere else", () => {
  const Made = DeviceBuffer as unknown as new (...args: unknown[]) => unknown;
  for (const args of [[], [[], "float32"], [world.ranks[0], "float32", 4, 64], [Symbol("made here"), world.ranks[0], "float32", 4, 64]])
    expect(() => new Made(...args)).toThrow(InvalidArgumentError);
});

it("control: an object of one's own takes what it is given", () => {
  const object: Record<string, unknown> = { number: 1, ranks: [0] };
  object.number = 5;
  (object.ranks as number[]).push(9);
  expect(object).toEqual({ number: 5, ranks: [0, 9] });
});
