import { describe, expect, it } from "vitest";
import type { DeadlockConfig } from "../../src/deadlock/config.js";
import { oddsOf, RoundEvents } from "../../src/deadlock/events.js";
import { componentsOf } from "../../src/deadlock/grouping.js";
import { confidenceInterval } from "../../src/deadlock/interval.js";
import { RandomStream } from "../../src/deadlock/random-stream.js";
import { SYNCHRONIZATION, sequencesOf } from "../../src/deadlock/sequences.js";
import { deadlocksByDefinition } from "./dependency-graph.js";
import { countDeadlocks, free, singleQueue, synchronization } from "./support.js";

interface Weighted {
  readonly sequence: readonly number[];
  readonly weight: number;
}

/** Every sequence of a GPU with its probability: pick k skips with probability p again and again; the last is forced. */
function allSequences(list: readonly number[], p: number, s: number): readonly Weighted[] {
  const extend = (left: readonly number[]): readonly Weighted[] => {
    if (left.length === 0) return [{ sequence: [], weight: 1 }];
    return left.flatMap((item, skipped) => {
      const isForced = skipped === left.length - 1;
      const weight = p ** skipped * (isForced ? 1 : 1 - p);
      return extend(left.filter((_, i) => i !== skipped)).flatMap((rest) => [
        { sequence: [item, ...rest.sequence], weight: weight * (1 - s) * rest.weight },
        ...(s > 0 ? [{ sequence: [SYNCHRONIZATION, item, ...rest.sequence], weight: weight * s * rest.weight }] : []),
      ]);
    });
  };
  return extend(list);
}

/** The probability of a deadlock, summed over everything that can happen. */
function exactRatio(config: DeadlockConfig): number {
  const [only] = componentsOf(config);
  if (only === undefined) throw new RangeError("no component");
  const { component } = only;
  const choices = component.lists.map((list) => allSequences([...list], config.disorderProbability, config.synchronizationProbability));
  const sum = (gpu: number, chosen: readonly (readonly number[])[], weight: number): number => {
    const options = choices[gpu];
    if (options === undefined) return deadlocksByDefinition(component, config.model, chosen) ? weight : 0;
    return options.reduce((total, option) => total + sum(gpu + 1, [...chosen, option.sequence], weight * option.weight), 0);
  };
  return sum(0, [], 1);
}

describe("on tiny cases", () => {
  it.each([
    ["two GPUs, three collectives, synchronizations", synchronization(free([[0, 1]], 3), 0.3, 0.4)],
    ["two GPUs, two groups, synchronizations", synchronization(free([[0, 1], [0, 1], [1]], 1), 0.2, 0.5)],
    ["three GPUs, two collectives, synchronizations", synchronization(free([[0, 1, 2]], 2), 0.4, 0.3)],
    ["two GPUs, four collectives, one queue", singleQueue(free([[0, 1]], 4), 0.1)],
    [
      "a triangle of groups, one queue",
      singleQueue(
        free(
          [
            [0, 1],
            [1, 2],
            [0, 2],
          ],
          1,
        ),
        0.25,
      ),
    ],
  ])("the sampled ratio is the exact one: %s", (_, config) => {
    const rounds = 40_000;
    const exact = exactRatio(config);
    // Five tests of 95% each would fail too often by chance: the interval of twice the width holds in 99.99%.
    const [low, high] = confidenceInterval(countDeadlocks(config, rounds, 11), rounds);
    const middle = (low + high) / 2;
    expect(Math.abs(exact - middle)).toBeLessThan(high - low);
    expect(exact).toBeGreaterThan(0.01);
  });

  it("sequences are as frequent as the process that makes them says", () => {
    const config = synchronization(free([[0]], 3), 0.3, 0.2);
    const [only] = componentsOf(config);
    if (only === undefined) throw new RangeError("no component");
    const events = new RoundEvents();
    const counts = new Map<string, number>();
    const rounds = 50_000;
    for (let round = 0; round < rounds; round += 1) {
      events.draw(only.component, oddsOf(0.3, 0.2), new RandomStream().seed(5, round, 0));
      const [sequence] = sequencesOf(only.component, events);
      const key = Array.from(sequence?.values.subarray(0, sequence.length) ?? []).join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const expected = allSequences([0, 1, 2], 0.3, 0.2);
    expect(expected).toHaveLength(48);
    const chiSquare = expected.reduce((sum, { sequence, weight }) => {
      const mean = rounds * weight;
      return sum + ((counts.get(sequence.join()) ?? 0) - mean) ** 2 / mean;
    }, 0);
    expect(chiSquare).toBeLessThan(82.7); // 47 degrees of freedom, 0.1%
    expect(new Set(counts.keys()).size).toBeLessThanOrEqual(48);
  });
});
