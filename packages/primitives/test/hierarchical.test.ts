import { describe, expect, it } from "vitest";
import {
  buildProgram,
  listAlgorithms,
  type Program,
  reduceOps,
  selectProgram,
  UnsupportedAlgorithmError,
  verifyProgram,
} from "../src/index.js";
import { SeededRandom } from "../src/random.js";
import { everyPlacement, expectedOutputs, runTrial } from "./support.js";

const layouts: readonly (readonly number[])[] = [
  [0, 1],
  [0, 0, 1, 1],
  [0, 1, 0, 1],
  [0, 1, 2],
  [0, 0, 1, 1, 2, 2, 3, 3],
  [5, 5, 5, 2, 2, 2],
  [0, 1, 2, 2, 1, 0],
  [0, 0, 0],
];
const hierarchical = (hosts: readonly number[], channels = 1): Program =>
  buildProgram({ collective: "all-reduce", algorithm: "hierarchical", ranks: hosts.length, hosts, channels, inPlace: "either" });

/** Chunks that a run sends from machine to machine. */
function chunksBetween({ ranks }: Program, hosts: readonly number[]): number {
  const steps = ranks.flatMap(({ blocks }, rank) => blocks.flatMap((block) => block.steps.map((step) => ({ rank, step }))));
  return steps.filter(({ rank, step }) => step.send !== undefined && hosts[step.send.peer] !== hosts[rank]).length;
}

describe.each(layouts.map((hosts) => [hosts] as const))("hierarchical all-reduce of ranks on machines %j", (hosts) => {
  it("is proved right, with the same bits on every rank", () => {
    for (const channels of [1, 2, 4]) expect(verifyProgram(hierarchical(hosts, channels)).sameBitsOnEveryRank).toBe(true);
  });

  it("computes the sum in any schedule, in place and out", () => {
    const random = new SeededRandom(hosts.length);
    for (let trials = 0; trials < 10; trials += 1) {
      const program = hierarchical(hosts, 1 + random.below(3));
      const op = reduceOps[random.below(reduceOps.length)] ?? "sum";
      const trial = {
        count: random.below(40),
        op,
        seed: random.next(),
        tileElements: 1 + random.below(4),
        inPlace: hosts.map(() => random.below(2) === 1),
      };
      const result = runTrial(program, trial);
      expect(result, JSON.stringify(trial)).toMatchObject({ ok: true });
      if (result.ok) expect(result.outputs).toEqual(expectedOutputs(program, trial));
    }
  });

  it("sends no more between machines than one ring of them would", () => {
    const machines = new Set(hosts).size;
    // Of 2 (H - 1) / H buffers that leave each of H machines, in chunks of 1 / ranks.
    expect(chunksBetween(hierarchical(hosts), hosts)).toBe(2 * (machines - 1) * hosts.length);
  });
});

describe("choosing it", () => {
  const request = (hosts: readonly number[], bytes: number) =>
    ({ collective: "all-reduce", ranks: hosts.length, inPlace: "either", bytes, platform: { sharedMemory: false, hosts } }) as const;

  it("happens where ranks are on several machines, as many on each", () => {
    expect(selectProgram(request([0, 0, 1, 1], 1 << 16)).algorithm).toBe("hierarchical");
    expect(selectProgram(request([0, 0, 1, 1], 1 << 24))).toMatchObject({ algorithm: "hierarchical", channels: 4 });
    expect(selectProgram(request([0, 0, 1, 1], 1000))).toMatchObject({ algorithm: "recursive-doubling", protocol: "ll" });
    expect(selectProgram(request([0, 0, 1], 1 << 24)).algorithm).toBe("ring");
    expect(selectProgram(request([0, 0, 0], 1 << 24)).algorithm).toBe("ring");
  });

  it("is possible only there", () => {
    for (const inPlace of everyPlacement) {
      expect(listAlgorithms("all-reduce", 4, inPlace, [0, 0, 1, 1])).toContain("hierarchical");
      expect(listAlgorithms("all-reduce", 4, inPlace, [0, 0, 0, 1])).not.toContain("hierarchical");
      expect(listAlgorithms("all-reduce", 4, inPlace)).not.toContain("hierarchical");
    }
    expect(() => hierarchical([0, 0, 1])).toThrow(UnsupportedAlgorithmError);
  });
});
