import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SampleOrder } from "../src/data/sample-order.js";
import { BatchStream, ringCapacity } from "../src/loader/batch-stream.js";
import { LoaderMemory } from "../src/loader/loader-memory.js";
import { LoaderWorker, type LoadPlan, type RecordSource } from "../src/loader/loader-worker.js";

interface Simulation {
  readonly workers: number;
  readonly steps: number;
  /** Virtual milliseconds: of a trainer's step, of reading a record, and of a hang of the whole file system. */
  readonly stepMs: number;
  readonly readMs: number;
  readonly stall: { readonly from: number; readonly ms: number };
  readonly capacity?: number;
}

/** A trainer and its loaders in virtual time, without threads or a clock: a tick is a hundredth of a millisecond. */
function simulate({ workers, steps, stepMs, readMs, stall, capacity = ringCapacity }: Simulation): {
  received: number[][];
  waitedMs: number;
  held: number;
} {
  const share = 2;
  const plan: LoadPlan = { recordBytes: 1, stride: 1, records: 100, seed: 5, share, offset: 2, globalBatch: 4, firstStep: 0, steps };
  const memory = LoaderMemory.create(workers, 2 * Math.ceil((ringCapacity / workers + 2) / 2), share);
  const tick = 0.01;
  let now = 0;
  /** A file system whose reads take a while, and longer while it hangs. */
  const source = (): RecordSource => {
    let readyAt: number | undefined;
    return {
      tryRead(offset, into) {
        if (readyAt === undefined) readyAt = now + readMs;
        const hangs = now >= stall.from && now < stall.from + stall.ms;
        if (hangs || now < readyAt) return false;
        readyAt = undefined;
        into[0] = offset;
        return true;
      },
    };
  };
  const loaders = Array.from(
    { length: workers },
    (_, worker) => new LoaderWorker(memory, worker, plan, source(), (record, into) => into.set(record)),
  );
  const advance = (ms: number): void => {
    for (const end = now + ms; now < end; now += tick) for (const loader of loaders) loader.advance();
  };
  const stream = new BatchStream(memory, 0, () => advance(2 * tick), capacity);
  const received: number[][] = [];
  let waitedMs = 0;
  let held = 0;
  for (let step = 0; step < steps; step += 1) {
    let batch = stream.tryNext();
    while (batch === undefined) {
      advance(tick);
      // Before the stall the trainer may wait for the first batches.
      if (now >= stall.from) waitedMs += tick;
      batch = stream.tryNext();
    }
    received.push([...batch]);
    if (now < stall.from) held = stream.held;
    advance(stepMs);
  }
  return { received, waitedMs, held };
}

function expected(steps: number): number[][] {
  const order = new SampleOrder(5, 100);
  return Array.from({ length: steps }, (_, step) => [...order.slice(4 * step + 2, 2)]);
}

describe("loading while the file system hangs, in virtual time", () => {
  it.each([150, 500, 2000])("loses no step in %d ms, and the trainer waits only for what half a ring doesn't cover", (ms) => {
    const stepMs = 20;
    const run = simulate({ workers: 4, steps: 200, stepMs, readMs: 4, stall: { from: 1000, ms } });
    expect(run.received).toEqual(expected(200));
    const covered = (ringCapacity / 2) * stepMs;
    expect(run.held).toBeGreaterThanOrEqual(ringCapacity / 2);
    // A batch under way when the hang ends needs its reads.
    expect(run.waitedMs).toBeLessThanOrEqual(Math.max(0, ms - covered) + 2 * 4 + 1);
    if (ms <= covered) expect(run.waitedMs).toBe(0);
  });

  it("control: a trainer with next to no ring waits in a hang that the ring absorbs", () => {
    // One loader, because every other one would hold a batch in its hands, too.
    const options = { workers: 1, steps: 100, stepMs: 20, readMs: 4, stall: { from: 1000, ms: 150 } };
    const run = simulate({ ...options, capacity: 4 });
    expect(run.received).toEqual(expected(100));
    expect(run.waitedMs).toBeGreaterThan(10);
    expect(simulate(options).waitedMs).toBe(0);
  });

  it("delivers every batch once and in order, however many loaders there are and whatever each takes", () => {
    fc.assert(
      fc.property(
        fc.record({
          workers: fc.integer({ min: 1, max: 6 }),
          steps: fc.integer({ min: 1, max: 40 }),
          stepMs: fc.integer({ min: 0, max: 3 }),
          readMs: fc.integer({ min: 0, max: 3 }),
          stall: fc.record({ from: fc.integer({ min: 0, max: 50 }), ms: fc.integer({ min: 0, max: 30 }) }),
        }),
        (simulation) => {
          expect(simulate(simulation).received).toEqual(expected(simulation.steps));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("a loader that fails", () => {
  it("leaves the reason where the waiting trainer finds it", () => {
    const memory = LoaderMemory.create(2, 4, 3);
    expect(memory.failureReason()).toBeUndefined();
    new LoaderMemory(memory.shape).fail("EIO: the disk is gone — ä");
    expect(memory.failureReason()).toBe("EIO: the disk is gone — ä");
  });
});
