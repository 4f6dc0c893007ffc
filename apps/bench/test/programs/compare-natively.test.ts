import { describe, expect, it } from "vitest";
import { compareNatively } from "../../src/programs/compare-natively.js";
import { contendersOf } from "../../src/programs/contenders.js";
import { loadProgram } from "../../src/programs/load-program.js";

const options = { sizes: [64, 4096], mode: "one at a time", rounds: 2, quicken: 100, signal: new AbortController().signal } as const;

async function compare(names: readonly string[]) {
  const programs = await Promise.all(names.map((name) => loadProgram(name, { ranks: { nodes: 1, gpus: 3 } })));
  return await compareNatively(contendersOf(programs, "gpus"), { ...options, place: { engine: "cpu" } });
}

describe("programs in the native loop", () => {
  it("are measured by turns beside what the engine chooses, each with its own program, and their results compared", async () => {
    const { results } = await compare(["ring-all-reduce", "all-pairs-one-shot-all-reduce:ll:direct"]);
    expect(results.map(({ bytes }) => bytes)).toEqual([64, 4096]);
    for (const { measured } of results) {
      expect(measured.map(({ name, samples }) => [name, samples.length])).toEqual([
        ["all-reduce ring", 2],
        ["all-reduce all-pairs one-shot (ll, direct)", 2],
        ["built-in", 2],
      ]);
      expect(measured.every(({ seconds }) => seconds > 0)).toBe(true);
    }
  });

  it("can be of any collective that the collective tests have", async () => {
    const { results } = await compare(["all-pairs-all-gather:direct", "ring-all-gather:x2"]);
    expect(results[1]?.measured).toHaveLength(3);
    // One that can't run in place.
    const { results: exchanged } = await compare(["all-pairs-all-to-all"]);
    expect(exchanged[1]?.measured).toHaveLength(2);
  });

  it("can be direct in phases", async () => {
    const { results } = await compare(["all-pairs-two-shot-all-reduce:direct:phases:x2"]);
    expect(results[1]?.measured[0]?.name).toBe("all-reduce all-pairs two-shot (direct, phases, x2)");
  });
});
