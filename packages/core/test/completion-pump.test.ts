import { describe, expect, it } from "vitest";
import { CompletionPump, type PumpedEngine, type PumpedRank } from "../src/completion-pump.js";
import { openWorld } from "../src/index.js";
import { engineOf } from "../src/world.js";
import { failureOf, rankOf, turns } from "./support/open.js";

/** An engine in which nothing moves, and that wakes nobody unless the test does. */
class StillEngine implements PumpedEngine {
  wake: () => void = () => undefined;
  isReferenced = false;

  drive(): boolean {
    return false;
  }
  deadlock(): null {
    return null;
  }
  setWaker(wake: () => void): void {
    this.wake = wake;
  }
  referenceWaker(on: boolean): void {
    this.isReferenced = on;
  }
}

/** A rank with runs in flight, whose completions the test posts. */
class FakeRank implements PumpedRank {
  posted = 0;
  delivered = 0;
  needsWake = 0;
  failure: unknown;
  isWatching = false;
  onAskForWake: () => void = () => undefined;
  onSecondLook = (): number => this.posted - this.delivered;

  readonly queues = {
    setNeedsWake: (on: 0 | 1): void => {
      this.needsWake = on;
      if (on === 1) this.onAskForWake();
    },
    undelivered: (): number => this.onSecondLook(),
  };

  constructor(private readonly runs: number) {}

  get pendingRuns(): number {
    return this.runs - this.delivered;
  }
  deliver(): number {
    const count = this.posted - this.delivered;
    this.delivered = this.posted;
    return count;
  }
  failAll(error: unknown): void {
    this.failure = error;
  }
}

function start(runs: number, canPark = true): { engine: StillEngine; rank: FakeRank; pump: CompletionPump } {
  const engine = new StillEngine();
  const rank = new FakeRank(runs);
  const pump = new CompletionPump(engine, () => [rank], { canPark, inOrder: false });
  pump.kick();
  return { engine, rank, pump };
}

// More than it takes to park.
const longEnough = 300;

describe("the pump", () => {
  it("parks when nothing moves, asks for a wake-up and keeps the event loop alive for it", async () => {
    const { engine, rank } = start(1);
    await turns(longEnough);
    expect([rank.needsWake, engine.isReferenced]).toEqual([1, true]);
    rank.posted = 1;
    engine.wake();
    await turns(2);
    expect([rank.delivered, rank.needsWake, engine.isReferenced]).toEqual([1, 0, false]);
  });

  it("sees a completion that was posted just before it asked for a wake-up", async () => {
    const { engine, rank } = start(1);
    rank.onAskForWake = () => {
      rank.posted = 1;
    };
    await turns(longEnough);
    expect([rank.delivered, rank.needsWake, engine.isReferenced]).toEqual([1, 0, false]);
  });

  it("would miss that completion without a second look (control)", async () => {
    const { engine, rank, pump } = start(1);
    rank.onAskForWake = () => {
      rank.posted = 1;
    };
    rank.onSecondLook = () => 0;
    await turns(longEnough);
    expect([rank.delivered, engine.isReferenced]).toEqual([0, true]);
    pump.stop(new Error("the test is over"));
  });

  it("comes to rest without anything in flight, and takes part in no turn", async () => {
    const { engine, rank } = start(0);
    let drives = 0;
    engine.drive = () => {
      drives += 1;
      return false;
    };
    await turns(longEnough);
    expect([drives, rank.needsWake, engine.isReferenced]).toEqual([1, 0, false]);
  });

  it("looks again and again for what no wake-up announces", async () => {
    const { engine, rank, pump } = start(0);
    let isOver = false;
    const waiting = pump.until(() => isOver);
    await turns(longEnough);
    expect([rank.needsWake, engine.isReferenced]).toEqual([0, false]);
    isOver = true;
    await waiting;
  });

  it("looks again and again after an abort, until nobody touches the buffers any more", async () => {
    const { engine, rank } = start(0);
    rank.isWatching = true;
    await turns(longEnough);
    expect([rank.needsWake, engine.isReferenced]).toEqual([0, false]);
    let looks = 0;
    rank.deliver = () => {
      looks += 1;
      if (looks === 3) rank.isWatching = false;
      return 0;
    };
    while (rank.isWatching) await turns(1);
    await turns(longEnough);
    expect(looks).toBe(3);
  });

  it("looks again and again where only this thread steps", async () => {
    const { engine, rank } = start(1, false);
    await turns(longEnough);
    expect(engine.isReferenced).toBe(false);
    rank.posted = 1;
    while (rank.delivered === 0) await turns(1);
  });

  it("rejects what waits, and lets the event loop go, when it is stopped", async () => {
    const { engine, rank, pump } = start(1);
    await turns(longEnough);
    const waiting = failureOf(pump.until(() => false));
    const error = new Error("closed");
    pump.stop(error);
    expect(await waiting).toBe(error);
    expect(rank.failure).toBe(error);
    engine.wake();
    await turns(5);
    expect([rank.needsWake, engine.isReferenced]).toEqual([0, false]);
  });

  it("passes an error of what it waits for on to the waiter", async () => {
    const { pump } = start(0);
    let calls = 0;
    const error = await failureOf(
      pump.until(() => {
        calls += 1;
        if (calls > 1) throw new Error("no such handle");
        return false;
      }),
    );
    expect((error as Error).message).toBe("no such handle");
  });
});

describe("a parked event loop", () => {
  it("is woken by the engine's threads, however their completions fall around its parking", async () => {
    using world = openWorld({ ranks: 1, workers: 1 });
    let parks = 0;
    // This thread steps nothing, so that every completion is another thread's.
    const { native } = engineOf(world);
    const referenceWaker = native.referenceWaker.bind(native);
    const countParks = (on: boolean): void => {
      if (on) parks += 1;
      referenceWaker(on);
    };
    Object.defineProperties(native, { drive: { value: () => false }, referenceWaker: { value: countParks } });
    const sizes = [1, 1 << 14, 1 << 16, 1 << 18, 1 << 20];
    const runs = sizes.map((count, id) => {
      const collective = rankOf(world, 0).register({ id, collective: "all-reduce", dataType: "float32", count });
      return [collective, new Float32Array(count).fill(id + 1), new Float32Array(count)] as const;
    });
    for (let i = 0; i < 500; i += 1) {
      const [collective, send, recv] = runs[(i * 7) % runs.length] ?? runs[0] ?? [];
      if (!collective || !send || !recv) throw new Error("there are runs");
      recv.fill(0);
      await collective.run(send, recv);
      expect(recv[recv.length - 1]).toBe(send[0]);
    }
    expect(parks).toBeGreaterThan(0);
  });
});
