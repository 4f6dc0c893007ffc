import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { insertPosition, type OrderPolicy, shouldFetch, simulationPolicy } from "../src/index.js";
import { seed } from "./arbitraries.js";
import { BlockModel } from "./block-model.js";

const byPriority = simulationPolicy("priority").order;

function enterAll(policy: OrderPolicy, priorities: readonly number[]): { priority: number; arrival: number }[] {
  const queue: { priority: number; arrival: number }[] = [];
  for (const [arrival, priority] of priorities.entries()) {
    queue.splice(
      insertPosition(
        policy,
        queue.map((task) => task.priority),
        priority,
      ),
      0,
      { priority, arrival },
    );
  }
  return queue;
}

describe("entering the queue", () => {
  it("by priority is stable: the result is the arrivals sorted by priority, equal ones as they came", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 30 }), (priorities) => {
        const sorted = priorities.map((priority, arrival) => ({ priority, arrival })).sort((a, b) => b.priority - a.priority);
        expect(enterAll(byPriority, priorities)).toEqual(sorted);
      }),
      { seed },
    );
  });

  it("is at the end under FIFO and at the front under LIFO, whatever the priority", () => {
    const arrivals = (kind: "fifo" | "lifo") => enterAll({ ...byPriority, kind }, [5, 1, 9]).map((task) => task.arrival);
    expect(arrivals("fifo")).toEqual([0, 1, 2]);
    expect(arrivals("lifo")).toEqual([2, 1, 0]);
  });

  it("lets an urgent task have its turn at the next visit, and only FIFO makes it wait", () => {
    const visitsUntilPolled = (kind: "fifo" | "lifo" | "priority"): number => {
      const block = new BlockModel(simulationPolicy("default", { order: { kind } }));
      for (let i = 0; i < 3; i += 1) block.enter(0, 1000);
      block.poll();
      block.enter(7, 1);
      const before = block.visit;
      while (block.queue.some((task) => task.priority === 7)) block.poll();
      return block.visit - before;
    };
    expect(visitsUntilPolled("priority")).toBe(2); // the slice in progress, then the urgent task
    expect(visitsUntilPolled("lifo")).toBe(2);
    expect(visitsUntilPolled("fifo")).toBeGreaterThan(1000);
  });
});

describe("looking for new entries", () => {
  const facts = { queueLength: 3, visitsSinceFetch: 4, visitsSinceProgress: 50, fetchedThisLap: 0, allStuck: false };
  const paper: OrderPolicy = { kind: "fifo", fetchEveryVisits: 0, fetchWhenStuckVisits: 40, fetchBatch: 1, fetchesPerLap: 2 };

  it("happens with an empty queue whatever else holds", () => {
    expect(shouldFetch(paper, { ...facts, queueLength: 0, fetchedThisLap: 99 })).toBe(true);
  });

  it("under the paper's FIFO waits until every task has been stuck for a while", () => {
    expect(shouldFetch(paper, facts)).toBe(false);
    expect(shouldFetch(paper, { ...facts, allStuck: true })).toBe(true);
    expect(shouldFetch(paper, { ...facts, allStuck: true, visitsSinceProgress: 39 })).toBe(false);
  });

  it("happens every so many visits, and no more once a lap's budget is spent", () => {
    const often: OrderPolicy = { ...paper, fetchEveryVisits: 4 };
    expect(shouldFetch(often, facts)).toBe(true);
    expect(shouldFetch(often, { ...facts, visitsSinceFetch: 3 })).toBe(false);
    expect(shouldFetch(often, { ...facts, fetchedThisLap: 2 })).toBe(false);
  });
});
