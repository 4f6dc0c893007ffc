import { expect, it } from "vitest";
import { openWorld } from "../src/index.js";
import { Quarantine } from "../src/quarantine.js";
import { engineOfRank } from "../src/rank.js";
import { engineOf } from "../src/world.js";
import { base } from "./support/faults.js";
import { failureOf, rankOf } from "./support/open.js";

it("holds the buffers of aborted runs until no rank touches them, for each collective alone", () => {
  const over = new Set<unknown>();
  const [one, two] = [1, 2].map((id) => ({ id, isQuarantineOver: (): boolean => over.has(id) }));
  if (!one || !two) throw new Error("there are two");
  const quarantine = new Quarantine();
  expect(quarantine.isEmpty).toBe(true);
  for (const collective of [one, two, one]) quarantine.hold(collective, new Float32Array(4), new Float32Array(4));
  quarantine.release();
  expect([quarantine.has(one), quarantine.has(two)]).toEqual([true, true]);
  over.add(one.id);
  quarantine.release();
  expect([quarantine.has(one), quarantine.has(two), quarantine.isEmpty]).toEqual([false, true, false]);
  over.add(two.id);
  quarantine.release();
  expect(quarantine.isEmpty).toBe(true);
});

it("begins with an aborted run, and is over before its collective is unregistered", async () => {
  using world = openWorld({ ranks: 3, workers: 0 });
  const rank = engineOfRank(rankOf(world, 0));
  const collectives = world.ranks.map((each) => each.register(base));
  const run = collectives[0]?.run(new Float32Array(4), new Float32Array(4));
  // Nobody's daemon tells that it has let go.
  const isQuarantineOver = engineOf(world).native.isQuarantineOver.bind(engineOf(world).native);
  let isHeldUp = true;
  const heldUp = (number: number, handle: number): boolean => !isHeldUp && isQuarantineOver(number, handle);
  Object.defineProperty(engineOf(world).native, "isQuarantineOver", { value: heldUp });
  collectives[1]?.abort();
  await failureOf(run ?? Promise.resolve());
  expect(rank.quarantine.isEmpty).toBe(false);
  expect(rank.isWatching).toBe(true);
  isHeldUp = false;
  collectives[0]?.unregister();
  expect(rank.quarantine.isEmpty).toBe(true);
});
