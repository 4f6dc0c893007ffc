import { simulationPolicy } from "@dfccl/scheduler";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RandomStream } from "../../src/deadlock/random-stream.js";
import { replay } from "../../src/deadlock/replay.js";
import { replayDeadlock } from "../../src/deadlock/replay-deadlock.js";
import { SYNCHRONIZATION } from "../../src/deadlock/sequences.js";
import { simulateDeadlocks } from "../../src/deadlock/simulate-deadlocks.js";
import { RoundSimulator } from "../../src/deadlock/simulate-round.js";
import { free, singleQueue, synchronization, threeD } from "./support.js";

describe("deadlocked rounds, run again on daemons", () => {
  it.each([
    ["3D, synchronizations", synchronization(threeD(4, 4, 2, 40, 120), 0.05, 0.05)],
    ["3D, group after group", synchronization(threeD(4, 4, 1, 40, 120), 0.05, 0.05, { listOrder: "concatenated" })],
    [
      "free groups, synchronizations",
      synchronization(
        free(
          [
            [0, 1, 2, 3],
            [2, 3, 4],
            [0, 4, 5],
          ],
          30,
        ),
        0.1,
        0.1,
      ),
    ],
    ["3D, one queue", singleQueue(threeD(4, 4, 2, 40, 120), 1e-3)],
  ])("complete with preemption and quit, and never without either: %s", (_, config) => {
    const simulator = new RoundSimulator(config, 3);
    let replayed = 0;
    for (let round = 0; replayed < 8; round += 1) {
      const found = simulator.simulate(round);
      if (found === undefined) continue;
      replayed += 1;
      const tallies = replayDeadlock(config, found, 3, round);
      expect(tallies["preemption and quit"]).toMatchObject({ replayed: 1, finished: 1 });
      expect(tallies["preemption off"]).toMatchObject({ replayed: 1, finished: 0, preemptions: 0 });
      expect(tallies["quit off"]).toMatchObject(config.model === "single-queue" ? { replayed: 0 } : { replayed: 1, finished: 0 });
    }
  });

  it.each([
    ["synchronizations", synchronization(threeD(2, 3, 2, 20, 60), 0.04, 0.04)],
    ["synchronizations, group after group", synchronization(threeD(2, 3, 2, 20, 60), 0.04, 0.04, { listOrder: "concatenated" })],
    ["one queue", singleQueue(threeD(2, 3, 2, 20, 60), 1e-3)],
  ])("complete with everything that the GPUs do, too, and never without either: %s", async (_, config) => {
    const { deadlocks, whole } = await simulateDeadlocks(config, { rounds: 200, seed: 5, workers: 0, wholeReplays: 6 });
    expect(deadlocks).toBeGreaterThan(6);
    expect(whole.deadlocked["preemption and quit"]).toMatchObject({ replayed: 6, finished: 6 });
    expect(whole.deadlocked["preemption off"]).toMatchObject({ replayed: 1, finished: 0 });
    expect(whole.deadlocked["quit off"]).toMatchObject(config.model === "single-queue" ? { replayed: 0 } : { replayed: 1, finished: 0 });
    // Rounds that don't deadlock complete without preemption as well, where the model has what daemons have: one queue.
    expect(whole.calm["preemption and quit"]).toMatchObject({ replayed: 6, finished: 6 });
    expect(whole.calm["preemption off"]).toMatchObject(config.model === "single-queue" ? { replayed: 1, finished: 1 } : { replayed: 0 });
  });

  it("any order of anything completes with preemption and quit", () => {
    const sequences = fc
      .array(fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 10 }), { minLength: 2, maxLength: 5 })
      .chain((orders) => fc.tuple(fc.constant(orders), fc.array(fc.boolean(), { minLength: 50, maxLength: 50 })))
      .map(([orders, flags]) =>
        orders.map((order, gpu) => order.flatMap((collective, i) => (flags[gpu * 10 + i] ? [collective, SYNCHRONIZATION] : [collective]))),
      );
    const quit = { idleVisits: 300, idleTicks: 0, residencyTicks: 20_000 };
    const policy = simulationPolicy("adaptive", { stickiness: { maximumThreshold: 128 }, quit });
    fc.assert(
      fc.property(sequences, fc.nat(), (orders, seed) => {
        expect(replay({ sequences: orders, policy, random: new RandomStream().seed(seed, 0, 0) }).finished).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("take as many rounds as there is memory for", async () => {
    // As arguments of one call, so many overflowed the stack.
    const config = singleQueue(free([[0, 1]], 2), 0);
    const { rounds, deadlocks } = await simulateDeadlocks(config, { rounds: 130_000, seed: 1, workers: 0, wholeReplays: 130_000 });
    expect({ rounds, deadlocks }).toEqual({ rounds: 130_000, deadlocks: 0 });
  });
});
