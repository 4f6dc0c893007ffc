import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PolicyName, type PolicyOverrides, type SchedulePolicy, simulationPolicy } from "../src/index.js";
import { randomFrom, shuffle } from "../src/tuner/statistics.js";
import { seed } from "./arbitraries.js";
import { type Outcome, simulate } from "./simulation.js";

// Small numbers, so that a short simulation sees many quits.
const quickQuit: PolicyOverrides = {
  stickiness: { initialThreshold: 12, minimumThreshold: 2, maximumThreshold: 60, perPositionDecrement: 2 },
  quit: { idleVisits: 80 },
};
const policy = (name: PolicyName, order: PolicyOverrides["order"] = {}): SchedulePolicy =>
  simulationPolicy(name, { ...quickQuit, order, quit: { idleVisits: 80, residencyTicks: 2000 } });

const preemptive: [name: string, policy: SchedulePolicy][] = [
  ["fixed", policy("fixed")],
  ["decreasing", policy("decreasing")],
  ["adaptive", policy("adaptive")],
  ["priority", policy("priority")],
  ["front of the queue", policy("default", { kind: "lifo" })],
  ["the paper's FIFO", policy("default", { fetchEveryVisits: 0, fetchWhenStuckVisits: 20 })],
  ["a small fetch budget", policy("priority", { fetchesPerLap: 1 })],
];

function runRandom(of: SchedulePolicy, run: { seed: number; ranks: number; tasks: number; sync: number }): Outcome {
  const random = randomFrom(run.seed);
  const orders = Array.from({ length: run.ranks }, () => shuffle([...Array(run.tasks).keys()], random));
  const syncAfter = orders.map((order) => new Set(order.map((_, position) => position).filter(() => random() < run.sync)));
  return simulate({ policy: of, orders, syncAfter, random });
}

const anyRun = fc.record({
  seed: fc.nat({ max: 0x7fff_ffff }),
  ranks: fc.integer({ min: 2, max: 6 }),
  tasks: fc.integer({ min: 1, max: 14 }),
  sync: fc.constantFrom(0, 0.1, 0.5),
});

describe("ranks that submit in orders of their own, with synchronizations in between", () => {
  it.each(preemptive)("all complete under %s", (_, of) => {
    fc.assert(
      fc.property(anyRun, (run) => {
        expect(runRandom(of, run).finished).toBe(true);
      }),
      { seed, numRuns: 60 },
    );
  });

  it("preempt and quit on the way, so that the property above is about something", () => {
    const { finished, preemptions, quits } = runRandom(policy("default"), { seed: 1, ranks: 6, tasks: 14, sync: 0.5 });
    expect(finished).toBe(true);
    expect(preemptions).toBeGreaterThan(10);
    expect(quits).toBeGreaterThan(10);
  });

  it("control: deadlock under the same policy where the daemon never leaves a synchronizing device", () => {
    const stays: SchedulePolicy = { ...policy("default"), quit: { ...policy("default").quit, kind: "whenEmpty" } };
    const outcomes = Array.from({ length: 20 }, (_, i) => runRandom(stays, { seed: i, ranks: 4, tasks: 8, sync: 0.5 }));
    expect(outcomes.some((outcome) => !outcome.finished)).toBe(true);
  });
});

// The four situations of DFCCL's Fig. 1, with a library that runs each collective to its end.
describe("in order, without preemption", () => {
  const inOrder = (streams: number) => simulationPolicy("in-order", { streams, ...quickQuit });
  const opposite = [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
  ];
  const run = (streams: number, orders: readonly (readonly number[])[], syncAfter?: readonly ReadonlySet<number>[]) =>
    simulate({ policy: inOrder(streams), orders, random: randomFrom(7), ...(syncAfter === undefined ? {} : { syncAfter }) });

  it("one queue and one order completes", () => {
    expect(
      run(1, [
        [2, 0, 1],
        [2, 0, 1],
        [2, 0, 1],
      ]),
    ).toEqual({ finished: true, preemptions: 0, quits: expect.any(Number) });
  });

  it("one queue deadlocks when two ranks' orders differ", () => {
    expect(run(1, opposite).finished).toBe(false);
  });

  it("enough streams complete in any order", () => {
    expect(run(4, opposite)).toMatchObject({ finished: true, preemptions: 0 });
  });

  it("too few streams deadlock", () => {
    expect(run(2, opposite).finished).toBe(false);
  });

  it("a synchronization deadlocks even with enough streams when orders differ, and only then", () => {
    const syncAfter = [new Set([0]), new Set([0])];
    expect(
      run(
        4,
        [
          [0, 1],
          [1, 0],
        ],
        syncAfter,
      ).finished,
    ).toBe(false);
    expect(
      run(
        4,
        [
          [0, 1],
          [0, 1],
        ],
        syncAfter,
      ).finished,
    ).toBe(true);
  });

  it("none of these deadlocks with preemption", () => {
    const syncAfter = [new Set([0]), new Set([0])];
    expect(simulate({ policy: policy("default"), orders: opposite, random: randomFrom(7) }).finished).toBe(true);
    expect(
      simulate({
        policy: policy("default"),
        orders: [
          [0, 1],
          [1, 0],
        ],
        syncAfter,
        random: randomFrom(7),
      }).finished,
    ).toBe(true);
  });
});
