import { inspect } from "node:util";
import { expect, test } from "vitest";
import { openWorld } from "../src/index.js";

test("what console.log() shows says what an object is, and nothing of the engine behind it", async () => {
  const world = openWorld({ ranks: 2, policy: "fixed" });
  const [rank, other] = world.ranks;
  if (rank === undefined || other === undefined) throw new Error("a world of two has two ranks");
  const options = { id: 7, collective: "all-reduce", dataType: "float32", op: "sum", count: 4 } as const;
  const [collective, peer] = [rank.register(options), other.register(options)];
  const wide = { breakLength: Number.POSITIVE_INFINITY };
  expect(inspect(world, wide)).toBe("World { size: 2, backend: 'cpu', order: 'fifo', stickiness: 'fixed', isJoined: false, isOpen: true }");
  expect(inspect(rank, wide)).toBe("Rank { number: 0, size: 2, backend: 'cpu', pendingRuns: 0 }");
  expect(inspect(peer, wide)).toBe(
    "RegisteredCollective { id: 7, collective: 'all-reduce', dataType: 'float32', op: 'sum', count: 4, root: 0, ranks: [ 0, 1 ], priority: 0, rank: 1 }",
  );
  const elements = new Float32Array(4);
  const batch = rank.submit([[collective, elements, elements]]);
  expect(inspect({ batch }, wide)).toBe("{ batch: Batch { size: 1, pending: 1 } }");
  expect(inspect(rank)).toContain("pendingRuns: 1");
  await Promise.all([batch, peer.run(elements.slice(), new Float32Array(4))]);
  expect(inspect(batch)).toContain("pending: 0");
  world.close();
  expect(inspect(world)).toContain("isOpen: false");
  expect(inspect(rank)).toContain("pendingRuns: 0");
});
