// Buffers of classes that are made of a typed array, and have a constructor and methods of their own.
import { describe, expect, it } from "vitest";
import { openWorld } from "../../src/index.js";
import { rankOf } from "../support/open.js";

/** What subarray() would make of it is another array of four. */
class Four extends Float32Array {
  constructor() {
    super(4);
  }
}

/** What subarray() would give is a copy. */
class Copying extends Float32Array {
  override subarray(begin?: number, end?: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.slice(begin, end));
  }
}

const makers = { "takes no arguments": () => new Four(), "copies its parts": () => new Copying(4) };

describe.each(Object.entries(makers))("a buffer of a class that %s", (_name, make) => {
  it("gets what is received from any rank", async () => {
    using world = openWorld({ ranks: 2 });
    const x = make();
    await Promise.all([rankOf(world, 0).recvAny(x), rankOf(world, 1).send(Float32Array.of(1, 2, 3, 4), 0)]);
    expect([...x]).toEqual([1, 2, 3, 4]);
  });

  it("gets its segments of an uneven collective", async () => {
    using world = openWorld({ ranks: 2 });
    const outputs = world.ranks.map(make);
    const sends = [Float32Array.of(1), Float32Array.of(2, 3, 4)];
    await Promise.all(world.ranks.map((rank, own) => rank.allGatherV(sends[own] as Float32Array, outputs[own] as Float32Array, [1, 3])));
    expect(outputs.map((output) => [...output])).toEqual([0, 1].map(() => [1, 2, 3, 4]));
  });

  it("is sent to its own rank", async () => {
    using world = openWorld({ ranks: 1 });
    const [x, y] = [make().fill(3), make()];
    await Promise.all([rankOf(world, 0).send(x, 0), rankOf(world, 0).recv(y, 0)]);
    expect([...y]).toEqual([3, 3, 3, 3]);
  });
});
