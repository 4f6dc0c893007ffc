import { describe, expect, it } from "vitest";
import { levels } from "../../src/simulate/presets/two-level.js";
import { bestTime, contests } from "../../src/simulate/two-level-contenders.js";

/** Times of a contest's contenders, by name. */
function timesOf(contest: string, bytes: number, settings = { instances: [1, 4], tileBytes: [32_768, 131_072] }): Record<string, number> {
  const { contenders = [] } = contests.find(({ name }) => name === contest) ?? {};
  const times = contenders.map(({ name, kernels }) => [
    name,
    bestTime((instances) => kernels(levels, instances), levels, bytes, settings).ns,
  ]);
  return Object.fromEntries(times);
}

describe("on two levels of links", () => {
  it.each([2 ** 14, 2 ** 20])(
    "the hierarchical all-reduce of %i bytes beats flat rings, and the same made of three collectives",
    (bytes) => {
      const settings = { instances: [1], tileBytes: [32_768, 131_072] };
      const { hierarchical = Number.NaN, ...others } = timesOf("all-reduce", bytes, settings);
      expect(Object.keys(others)).toEqual(["rings over all cards", "one ring", "three collectives"]);
      for (const other of Object.values(others)) expect(hierarchical).toBeLessThan(other);
    },
  );

  it.each([2 ** 14, 2 ** 20, 2 ** 22])("the two-step all-to-all of %i bytes beats all-pairs", (bytes) => {
    const times = timesOf("all-to-all", bytes);
    expect(times["two-step"]).toBeLessThan(times["all-pairs"] ?? 0);
  });

  it("sending to the next rank over all cards beats one card where there is much to send, and not where there is little", () => {
    const [little, much] = [timesOf("all-to-next", 4096), timesOf("all-to-next", 2 ** 22)];
    expect(much["over all cards"]).toBeLessThan((much.straight ?? 0) / 2);
    expect(little["over all cards"]).toBeGreaterThan(little.straight ?? Number.POSITIVE_INFINITY);
  });

  it("a tile can be too small and too large: pipelining against the cost of a message", () => {
    const bytes = 2 ** 22;
    const time = (tileBytes: number): number => timesOf("all-reduce", bytes, { instances: [1], tileBytes: [tileBytes] }).hierarchical ?? 0;
    const [small, middle, wholeChunk] = [time(2048), time(32_768), time(bytes / 16)];
    expect(middle).toBeLessThan(small);
    expect(middle).toBeLessThan(wholeChunk);
  });
});
