import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAllStuck, isTriedAll, quitTransition, simulationPolicy, startedAt, wantsFetch } from "../src/index.js";
import { seed } from "./arbitraries.js";
import { BlockModel } from "./block-model.js";

const residencyTicks = 100;

const stay = fc.record({
  kind: fc.constantFrom("fifo" as const, "lifo" as const, "priority" as const),
  waiting: fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 400 })), { maxLength: 12 }),
  ready: fc.infiniteStream(fc.boolean()),
  arrives: fc.infiniteStream(fc.boolean()),
  ticksPerVisit: fc.integer({ min: 1, max: 30 }),
});

/** One stay of a daemon of one block. Returns its length in ticks, the tasks that it never polled, and its queue's length at the limit. */
function runStay(
  block: BlockModel,
  { ready, arrives, ticksPerVisit }: { ready: () => boolean; arrives: () => boolean; ticksPerVisit: number },
  believesAllTried = false,
): { ticks: number; untried: number; lengthAtLimit: number } {
  block.restart();
  let state = startedAt(0);
  let lengthAtLimit = 0;
  for (let now = 0; now < 100_000; now += ticksPerVisit) {
    const fetched = wantsFetch(block.policy, block.state) && arrives();
    if (fetched) block.enter(block.visit % 4, 3);
    const { progressed } = block.poll(ready());
    const decision = quitTransition(block.policy.quit, state, {
      now,
      queueLength: block.queue.length,
      fetched,
      progressed,
      allStuck: isAllStuck(block.state),
      triedAll: believesAllTried || isTriedAll(block.state),
    });
    state = decision.state;
    if (decision.drain) {
      lengthAtLimit = Math.max(lengthAtLimit, block.queue.length);
      block.drain();
    }
    if (decision.quit) {
      return { ticks: now, untried: block.queue.filter((task) => !task.polledThisStay).length, lengthAtLimit };
    }
  }
  throw new Error("the stay never ended");
}

const busy = (kind: "fifo" | "lifo" | "priority"): BlockModel =>
  new BlockModel(simulationPolicy("default", { order: { kind }, quit: { residencyTicks } }));

describe("a stay", () => {
  it("is bounded whatever the progress, and tries every task", () => {
    fc.assert(
      fc.property(stay, ({ kind, waiting, ready, arrives, ticksPerVisit }) => {
        const block = busy(kind);
        for (const [priority, slices] of waiting) block.enter(priority, slices);
        const next = (stream: Iterator<boolean>) => () => stream.next().value === true;
        const { ticks, untried, lengthAtLimit } = runStay(block, { ready: next(ready), arrives: next(arrives), ticksPerVisit });
        expect(untried).toBe(0);
        expect(ticks).toBeLessThanOrEqual(residencyTicks + (lengthAtLimit + 1) * ticksPerVisit);
      }),
      { seed },
    );
  });

  it("control: where the leader doesn't ask whether all were tried, some task isn't", () => {
    const block = busy("fifo");
    for (let i = 0; i < 5; i += 1) block.enter(0, 1000);
    const alwaysReady = { ready: () => true, arrives: () => false, ticksPerVisit: 10 };
    expect(runStay(block, alwaysReady).untried).toBe(0);
    expect(runStay(block, alwaysReady, true).untried).toBeGreaterThan(0);
  });

  it("control: without a limit it lasts as long as there is progress", () => {
    const endless = new BlockModel(simulationPolicy("default", { quit: { residencyTicks: 0 } }));
    endless.enter(0, 1e9);
    expect(() => runStay(endless, { ready: () => true, arrives: () => false, ticksPerVisit: 10 })).toThrow("never ended");
  });
});

describe("the idle period", () => {
  const quiet = { queueLength: 0, fetched: false, progressed: false, allStuck: true, triedAll: true };
  const { quit } = simulationPolicy("fixed", { stickiness: { maximumThreshold: 99 }, quit: { idleVisits: 100, idleTicks: 1000 } });
  const idle = { startedAt: 0, activeAt: 0, quietVisits: 99 };

  it("has passed when both its visits and its ticks have", () => {
    expect(quitTransition(quit, idle, { ...quiet, now: 1000 }).quit).toBe(true);
    expect(quitTransition(quit, idle, { ...quiet, now: 999 }).quit).toBe(false);
    expect(quitTransition(quit, { ...idle, quietVisits: 98 }, { ...quiet, now: 1000 }).quit).toBe(false);
  });

  it("begins anew at each fetch and each progress", () => {
    for (const activity of [{ fetched: true }, { progressed: true }]) {
      const decision = quitTransition(quit, idle, { ...quiet, ...activity, now: 1000 });
      expect(decision).toEqual({ state: { startedAt: 0, activeAt: 1000, quietVisits: 0 }, quit: false, drain: false });
    }
  });

  it("ends a stay with work in the queue only if every task is stuck", () => {
    const event = { ...quiet, now: 1000, queueLength: 2 };
    expect(quitTransition(quit, idle, event).quit).toBe(true);
    expect(quitTransition(quit, idle, { ...event, allStuck: false }).quit).toBe(false);
    expect(quitTransition({ ...quit, kind: "whenEmpty" }, idle, event).quit).toBe(false);
    expect(quitTransition({ ...quit, kind: "whenEmpty" }, idle, { ...event, queueLength: 0 }).quit).toBe(true);
    expect(quitTransition({ ...quit, kind: "never" }, idle, { ...event, queueLength: 0 }).quit).toBe(false);
  });
});
