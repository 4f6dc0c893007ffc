import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BlockHolder, BlockPool, blockPoolBytes } from "../src/block-pool.js";
import { FlipFlop, flipFlopBytes } from "../src/flip-flop.js";
import { sharedWords } from "../src/shared-words.js";
import { TrainerRing } from "../src/trainer-ring.js";
import { WaveCaller, WaveWorker, waveBytes } from "../src/wave.js";
import { PaddedWaveCaller, PaddedWaveWorker, paddedWaveBytes } from "../src/wave-padded.js";
import { WorkerBuffer } from "../src/worker-buffer.js";

const flipFlop = () => new FlipFlop(sharedWords(new SharedArrayBuffer(flipFlopBytes)));

describe("flip-flop", () => {
  it("holds one value of up to 53 bits, from whoever was first", () => {
    const it = flipFlop();
    expect(it.tryGet()).toBe(0);
    expect(it.tryAdd(2 ** 53 - 1)).toBe(true);
    expect(it.tryAdd(8)).toBe(false);
    expect(it.tryGet()).toBe(2 ** 53 - 1);
    expect(it.tryAdd(2 ** 32)).toBe(true);
    expect(it.get(() => expect.unreachable())).toBe(2 ** 32);
  });

  it("pauses once for each miss", () => {
    const it = flipFlop();
    let pauses = 0;
    expect(it.get(() => ++pauses === 3 && it.tryAdd(5))).toBe(5);
    expect(pauses).toBe(3);
  });

  it("refuses 0, which means empty", () => {
    expect(() => flipFlop().tryAdd(0)).toThrowError(expect.objectContaining({ code: "QUEUE_MISUSE" }));
  });
});

describe("worker buffer", () => {
  it("hands over everything in order, and refuses only when buffer and flip-flop are full", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("push", "flush", "get"), { maxLength: 100 }), (steps) => {
        const shared = flipFlop();
        const worker = new WorkerBuffer(shared, 4);
        let pushed = 0;
        let got = 0;
        for (const step of steps) {
          const held = pushed - got;
          if (step === "push") {
            const isTaken = worker.push(pushed + 1);
            expect(isTaken).toBe(held < 5);
            if (isTaken) pushed++;
          } else if (step === "flush") {
            expect(worker.flush()).toBe(worker.size === 0);
          } else {
            const value = shared.tryGet();
            if (value !== 0) expect(value).toBe(++got);
          }
          expect(worker.size).toBeLessThanOrEqual(4);
        }
      }),
    );
  });
});

describe("trainer ring", () => {
  const size = 16;

  /** Workers that have the next batch ready at once, unless their file system hangs. */
  class Workers {
    isHung = false;
    produced = 0;
    tryGet() {
      return this.isHung ? 0 : ++this.produced;
    }
  }

  /** The control: the slides' rule taken at its word. At most S/2 held, it waits for a first value. */
  function waitsWhenLow(workers: Workers) {
    const held: number[] = [];
    return {
      next() {
        const isLow = held.length <= size / 2;
        const first = workers.tryGet();
        if (first === 0 && isLow) return 0;
        if (first !== 0) held.push(first);
        const second = isLow ? workers.tryGet() : 0;
        if (second !== 0) held.push(second);
        return held.shift() ?? 0;
      },
    };
  }

  /** Batches in a row that the trainer still gets while every worker hangs, after they kept up for a while. */
  function absorbedBatches(ring: { next(): number }, workers: Workers): number {
    workers.isHung = false;
    for (let i = 0; i < 100; i++) expect(ring.next()).not.toBe(0);
    workers.isHung = true;
    let batches = 0;
    while (ring.next() !== 0) batches++;
    return batches;
  }

  it("settles at S/2 + 1 where the workers keep up, in order", () => {
    const ring = new TrainerRing(new Workers(), size);
    for (let i = 1; i <= 1000; i++) {
      expect(ring.next()).toBe(i);
      expect(ring.size).toBe(Math.min(i, size / 2 + 1));
    }
  });

  it("absorbs a stall of S/2 batches, time and again (150 ms at 20 ms a batch); the literal rule absorbs one", () => {
    const workers = new Workers();
    const ring = new TrainerRing(workers, size);
    for (let stall = 0; stall < 3; stall++) expect(absorbedBatches(ring, workers)).toBeGreaterThanOrEqual(size / 2);
    const others = new Workers();
    expect(absorbedBatches(waitsWhenLow(others), others)).toBe(1);
  });

  it("never overflows and keeps the order, however the workers come and go", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 200 }), (hangs) => {
        const workers = new Workers();
        const ring = new TrainerRing(workers, 4);
        let expected = 1;
        for (const isHung of hangs) {
          workers.isHung = isHung;
          const value = ring.next();
          if (value !== 0) expect(value).toBe(expected++);
          else expect(ring.size).toBe(0);
          expect(ring.size).toBeLessThanOrEqual(3);
        }
      }),
    );
  });
});

describe("block pool", () => {
  it("gives a block out again only after it was freed", () => {
    const status = sharedWords(new SharedArrayBuffer(blockPoolBytes(4)));
    const pool = new BlockPool(status, 3);
    const trainer = new BlockHolder(status);
    expect([pool.tryAcquire(), pool.tryAcquire(), pool.tryAcquire(), pool.tryAcquire()]).toEqual([0, 1, 2, undefined]);
    trainer.hold(1);
    expect(pool.tryAcquire()).toBeUndefined();
    trainer.hold(0); // frees block 1, which it used last
    expect([pool.tryAcquire(), pool.tryAcquire()]).toEqual([1, undefined]);
    trainer.release();
    trainer.release();
    expect(pool.tryAcquire()).toBe(0);
  });
});

describe.each(["one counter", "padded words"])("wave with %s", (kind) => {
  const words = () => sharedWords(new SharedArrayBuffer(Math.max(waveBytes, paddedWaveBytes(2))));

  it("starts every worker once a round and is collected when all have finished", () => {
    const memory = words();
    const caller = kind === "one counter" ? new WaveCaller(memory, 2) : new PaddedWaveCaller(memory, 2);
    const workers = [0, 1].map((i) => (kind === "one counter" ? new WaveWorker(memory) : new PaddedWaveWorker(memory, i)));
    for (let round = 0; round < 5; round++) {
      expect(workers.map((worker) => worker.isStarted())).toEqual([false, false]);
      caller.start();
      for (const [i, worker] of workers.entries()) {
        expect(caller.isCollected()).toBe(false);
        expect(worker.isStarted()).toBe(true);
        worker.finish();
        expect(worker.isStarted()).toBe(false);
        expect(caller.isCollected()).toBe(i === 1);
      }
    }
  });
});
