import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DeadlockConfig, parseDeadlockConfig } from "../../src/deadlock/config.js";
import { oddsOf, RoundEvents } from "../../src/deadlock/events.js";
import { componentsOf } from "../../src/deadlock/grouping.js";
import { RandomStream } from "../../src/deadlock/random-stream.js";
import { sequencesOf } from "../../src/deadlock/sequences.js";
import { PlainSimulator } from "../../src/deadlock/simulate-plainly.js";
import { RoundSimulator } from "../../src/deadlock/simulate-round.js";
import { deadlocksByDefinition } from "./dependency-graph.js";

const gpuCount = 5;
const group = fc.record({
  gpus: fc.uniqueArray(fc.nat(gpuCount - 1), { minLength: 2, maxLength: 5 }),
  collectives: fc.integer({ min: 1, max: 7 }),
});
const grouping = fc.oneof(
  fc.array(group, { minLength: 1, maxLength: 4 }).map((groups) => {
    // Every GPU is in some group, as the schema asks.
    const idle = Array.from({ length: gpuCount }, (_, gpu) => gpu).filter((gpu) => !groups.some(({ gpus }) => gpus.includes(gpu)));
    return { policy: "free", gpus: gpuCount, groups: [...groups, ...idle.map((gpu) => ({ gpus: [gpu], collectives: 1 }))] };
  }),
  fc.record({
    policy: fc.constant("3d"),
    tp: fc.integer({ min: 1, max: 3 }),
    dp: fc.integer({ min: 1, max: 3 }),
    pp: fc.integer({ min: 1, max: 2 }),
    collectivesPerTpGroup: fc.integer({ min: 1, max: 4 }),
    collectivesPerDpGroup: fc.integer({ min: 1, max: 6 }),
  }),
);
const probability = fc.oneof(fc.double({ min: 0, max: 0.6, noNaN: true }), fc.constantFrom(0, 0.01, 1));
const configs: fc.Arbitrary<DeadlockConfig> = fc
  .record({
    model: fc.constantFrom("single-queue", "synchronization"),
    grouping,
    disorderProbability: probability,
    synchronizationProbability: fc.double({ min: 0, max: 0.6, noNaN: true }),
    listOrder: fc.constantFrom("round-robin", "concatenated"),
  })
  .map((config) =>
    parseDeadlockConfig({ ...config, synchronizationProbability: config.model === "single-queue" ? 0 : config.synchronizationProbability }),
  );

/** Whether the definition says that a round deadlocks, of the same events. */
function byDefinition(config: DeadlockConfig, seed: number, round: number): boolean {
  const events = new RoundEvents();
  const odds = oddsOf(config.disorderProbability, config.synchronizationProbability);
  return componentsOf(config).some(({ component, firstGpus, firstPart }) =>
    firstGpus.some((_, copy) => {
      events.draw(component, odds, new RandomStream().seed(seed, round, firstPart + copy));
      const sequences = sequencesOf(component, events).map((sequence) => Array.from(sequence.values.subarray(0, sequence.length)));
      return deadlocksByDefinition(component, config.model, sequences);
    }),
  );
}

describe("skipping to disorder", () => {
  it("finds a deadlock exactly where the paper's definition, taken word by word, finds a cycle", () => {
    let [deadlocks, rounds] = [0, 0];
    fc.assert(
      fc.property(configs, fc.nat(1000), (config, seed) => {
        const simulator = new RoundSimulator(config, seed);
        for (let round = 0; round < 4; round += 1) {
          const found = simulator.simulate(round) !== undefined;
          rounds += 1;
          deadlocks += found ? 1 : 0;
          expect(found).toBe(byDefinition(config, seed, round));
        }
      }),
      { numRuns: 500 },
    );
    // Both outcomes were compared, often.
    expect(deadlocks).toBeGreaterThan(10); // 70 on average
    expect(rounds - deadlocks).toBeGreaterThan(100);
  });

  it("agrees with sweeps over the GPUs, suspended ones passing, whose order of events is another", () => {
    fc.assert(
      fc.property(
        configs.filter(({ model }) => model === "synchronization"),
        fc.nat(1000),
        (config, seed) => {
          const [fast, plain] = [new RoundSimulator(config, seed), new PlainSimulator(config, seed)];
          for (let round = 0; round < 10; round += 1) expect(plain.deadlocks(round, "cycle")).toBe(fast.simulate(round) !== undefined);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("reports nothing as a deadlock that the shortcut does not: each cycle is an intersection too", () => {
    fc.assert(
      fc.property(
        configs.filter(({ model }) => model === "synchronization"),
        fc.nat(1000),
        (config, seed) => {
          const plain = new PlainSimulator(config, seed);
          for (let round = 0; round < 10; round += 1)
            if (plain.deadlocks(round, "cycle")) expect(plain.deadlocks(round, "intersection")).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("gives a round's result whatever was simulated before", () => {
    const config = parseDeadlockConfig({
      model: "synchronization",
      grouping: { policy: "3d", tp: 2, dp: 3, pp: 2, collectivesPerTpGroup: 5, collectivesPerDpGroup: 9 },
      disorderProbability: 0.2,
      synchronizationProbability: 0.2,
    });
    const results = (rounds: readonly number[]): Map<number, string> => {
      const simulator = new RoundSimulator(config, 7);
      return new Map(rounds.map((round) => [round, JSON.stringify(simulator.simulate(round)?.cycle ?? null)]));
    };
    const rounds = Array.from({ length: 60 }, (_, round) => round);
    const backwards = results([...rounds].reverse());
    for (const [round, cycle] of results(rounds)) expect(backwards.get(round)).toBe(cycle);
    expect(new Set(backwards.values()).size).toBeGreaterThan(2);
  });
});
