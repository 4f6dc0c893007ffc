import { type PolicyName, policyByName, type SchedulePolicy } from "@dfccl/scheduler";
import { expect, it } from "vitest";
import { openWorld } from "../src/index.js";
import { rankOf } from "./support/open.js";

// Only this thread steps the engine, and it does so when everything is submitted: the order is the policy's alone. Both runs
// write to the same cell, so what it holds in the end tells which came last.
using usual = openWorld({ ranks: 1 });
const fifo = policyByName("default", usual.policy, { order: { kind: "fifo" } });
const cases: readonly (readonly [name: string, policy: PolicyName | SchedulePolicy, last: string])[] = [
  ["default", "default", "first"],
  ["priority", "priority", "first"],
  ["of first in, first out", fifo, "second"],
];

it.each(cases)("under policy %s, of a run and a more urgent one behind it, which ends last", async (_, policy, last) => {
  using world = openWorld({ ranks: 1, workers: 0, policy });
  const rank = rankOf(world, 0);
  const options = { collective: "all-reduce", dataType: "int32", count: 1 } as const;
  const cell = new Int32Array(1);
  await rank.submit([
    [rank.register({ id: 0, ...options }), new Int32Array(1), new Int32Array(1)],
    [rank.register({ id: 1, ...options, priority: 0 }), Int32Array.of(1), cell],
    [rank.register({ id: 2, ...options, priority: 5 }), Int32Array.of(2), cell],
  ]);
  expect(cell[0] === 1 ? "first" : "second").toBe(last);
});
