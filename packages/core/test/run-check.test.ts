import { describe, expect, it } from "vitest";
import { openWorld } from "../src/index.js";
import { base } from "./support/faults.js";
import { failureOf, rankOf } from "./support/open.js";

const refused = (buffer: string) => expect.objectContaining({ code: "BUFFER", facts: expect.objectContaining({ buffer }) });

// The engine would go by what such a view says of itself to memory that isn't there.
describe("a buffer is what the language says of it, not what it says of itself", () => {
  it("a length of its own", async () => {
    using world = openWorld({ ranks: 1, workers: 0 });
    const sum = rankOf(world, 0).register(base);
    const short = Object.defineProperty(new Float32Array(1), "length", { value: 4 });
    expect(await failureOf(sum.run(short, new Float32Array(4)))).toEqual(refused("send"));
    expect(await failureOf(rankOf(world, 0).allReduce(short, { count: 4 }))).toEqual(refused("send"));
  });

  it("memory of its own", async () => {
    using world = openWorld({ ranks: 1, workers: 0 });
    const sum = rankOf(world, 0).register(base);
    const [other, x, result] = [new Float32Array(4), Float32Array.of(1, 2, 3, 4), new Float32Array(4)];
    Object.defineProperty(x, "buffer", { value: other.buffer });
    Object.defineProperty(x, "byteOffset", { value: 2 ** 30 });
    await sum.run(x, result);
    expect([...result]).toEqual([1, 2, 3, 4]);
    await sum.run(other, result);
    expect([...result]).toEqual([0, 0, 0, 0]);
  });

  it("another type's prototype", async () => {
    using world = openWorld({ ranks: 1, workers: 0 });
    const sum = rankOf(world, 0).register(base);
    const bytes = Object.setPrototypeOf(new Uint8Array(4), Float32Array.prototype);
    expect(await failureOf(sum.run(bytes, new Float32Array(4)))).toEqual(refused("send"));
  });

  it("a class of the caller's own is one of what it is made of", async () => {
    class Mine extends Float32Array {}
    using world = openWorld({ ranks: 1, workers: 0 });
    const [x, result] = [Mine.of(1, 2, 3, 4), new Mine(4)];
    await rankOf(world, 0).register(base).run(x, result);
    expect([...result]).toEqual([1, 2, 3, 4]);
  });
});
