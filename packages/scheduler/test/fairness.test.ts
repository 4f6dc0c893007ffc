import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAllStuck, isTriedAll, type SchedulePolicy, simulationPolicy, wantsFetch } from "../src/index.js";
import { preemptivePolicy, seed } from "./arbitraries.js";
import { BlockModel } from "./block-model.js";

const queueLimit = 8;
const slicesLimit = 3;
const largestThreshold = 3;

const smallPolicy = fc.tuple(preemptivePolicy, fc.integer({ min: 1, max: largestThreshold }), fc.integer({ min: 1, max: 5 })).map(
  ([policy, maximumThreshold, fetchesPerLap]): SchedulePolicy => ({
    ...policy,
    order: { ...policy.order, fetchesPerLap, fetchEveryVisits: 1 },
    stickiness: { ...policy.stickiness, minimumThreshold: 1, initialThreshold: maximumThreshold, maximumThreshold },
  }),
);

// An endless stream of arrivals: each a priority, and slices to run or (0) stuck for good.
const arrivals = fc.array(fc.tuple(fc.integer({ min: -2, max: 2 }), fc.nat({ max: slicesLimit })), { minLength: 1, maxLength: 12 });

/** The longest that any task waited for a poll while `visits` visits passed and arrivals kept coming. */
function longestWait(block: BlockModel, stream: readonly (readonly [number, number])[], visits: number): number {
  let longest = 0;
  let next = 0;
  for (let i = 0; i < visits; i += 1) {
    if (wantsFetch(block.policy, block.state) && block.queue.length < queueLimit) {
      const [priority, slices] = stream[next++ % stream.length] ?? [0, 0];
      const stuckCount = block.queue.filter((task) => task.slicesLeft === undefined).length;
      // One place stays free, or the stuck ones would fill the queue and nothing would compete with them.
      block.enter(priority, slices === 0 && stuckCount < queueLimit - 1 ? undefined : Math.max(slices, 1));
    }
    longest = Math.max(longest, block.poll().waited);
  }
  return Math.max(longest, ...block.queue.map((task) => block.visit - task.lastPolledAt));
}

function boundInVisits({ order }: SchedulePolicy): number {
  const tasksOfALap = queueLimit + order.fetchesPerLap + 1;
  const timesBack = order.kind === "fifo" ? 0 : order.fetchesPerLap; // once for each task that enters ahead of the cursor
  const turnsBetweenPolls = 2 * (timesBack + 1) * tasksOfALap; // what is left of this lap, and all of the next
  return turnsBetweenPolls * (slicesLimit + 1) * largestThreshold;
}

describe("no task starves", () => {
  it("every task is polled within a bounded number of visits, whatever keeps arriving", () => {
    fc.assert(
      fc.property(smallPolicy, arrivals, (policy, stream) => {
        expect(longestWait(new BlockModel(policy), stream, 6000)).toBeLessThanOrEqual(boundInVisits(policy));
      }),
      { seed },
    );
  });

  it("control: without the fetch budget, arrivals that complete at once starve the stuck task at the front", () => {
    const wait = (fetchesPerLap: number): number => {
      const policy = simulationPolicy("default", {
        order: { fetchesPerLap },
        stickiness: { initialThreshold: 8, perPositionDecrement: 0 },
      });
      const block = new BlockModel(policy);
      block.enter(0, undefined);
      block.enter(0, 1);
      return longestWait(block, [[0, 1]], 20_000);
    };
    expect(wait(5)).toBeLessThan(100);
    expect(wait(0xffff_ffff)).toBeGreaterThan(19_000);
  });

  it("control: without the fetch budget, urgent arrivals keep the lap from those behind", () => {
    const wait = (fetchesPerLap: number): number => {
      const block = new BlockModel(simulationPolicy("priority", { order: { fetchesPerLap } }));
      block.enter(0, undefined);
      return longestWait(block, [[1, 2]], 20_000);
    };
    expect(wait(5)).toBeLessThan(200);
    expect(wait(0xffff_ffff)).toBeGreaterThan(19_000);
  });
});

describe("what the schedule says of its tasks", () => {
  type Happening = "enter" | "ready" | "not ready";
  const happenings = fc.array(fc.constantFrom<Happening>("enter", "ready", "not ready", "not ready", "not ready"), {
    minLength: 50,
    maxLength: 300,
  });

  it("is true: allStuck and triedAll hold only if every single task failed a turn or was polled", () => {
    let timesStuck = 0;
    let timesTried = 0;
    fc.assert(
      fc.property(smallPolicy, happenings, (policy, sequence) => {
        const block = new BlockModel(policy);
        for (const [i, happening] of sequence.entries()) {
          if (happening === "enter" && block.queue.length < 4) block.enter(i % 3, 1 + (i % slicesLimit));
          else block.poll(happening === "ready");
          if (i % 97 === 96) block.restart();
          if (block.queue.length === 0) continue;
          if (isAllStuck(block.state)) {
            timesStuck += 1;
            expect(block.queue.filter((task) => !task.failedTurn)).toEqual([]);
          }
          if (isTriedAll(block.state)) {
            timesTried += 1;
            expect(block.queue.filter((task) => !task.polledThisStay)).toEqual([]);
          }
        }
      }),
      { seed },
    );
    // Counters that never reached zero would make the property empty.
    expect(timesStuck).toBeGreaterThan(100);
    expect(timesTried).toBeGreaterThan(100);
  });
});
