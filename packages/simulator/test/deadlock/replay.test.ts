import { policyByName } from "@dfccl/scheduler";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RandomStream } from "../../src/deadlock/random-stream.js";
import { replay } from "../../src/deadlock/replay.js";
import { replayDeadlock } from "../../src/deadlock/replay-deadlock.js";
import { SYNCHRONIZATION } from "../../src/deadlock/sequences.js";
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

  it("any order of anything completes with preemption and quit", () => {
    const sequences = fc
      .array(fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 10 }), { minLength: 2, maxLength: 5 })
      .chain((orders) => fc.tuple(fc.constant(orders), fc.array(fc.boolean(), { minLength: 50, maxLength: 50 })))
      .map(([orders, flags]) =>
        orders.map((order, gpu) => order.flatMap((collective, i) => (flags[gpu * 10 + i] ? [collective, SYNCHRONIZATION] : [collective]))),
      );
    const quit = { idleVisits: 300, idleTicks: 0, residencyTicks: 20_000 };
    const policy = policyByName("adaptive", { stickiness: { maximumThreshold: 128 }, quit });
    fc.assert(
      fc.property(sequences, fc.nat(), (orders, seed) => {
        expect(replay({ sequences: orders, policy, random: new RandomStream().seed(seed, 0, 0) }).finished).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
