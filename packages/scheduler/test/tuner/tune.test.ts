import { InvalidArgumentError } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { encodePolicy, simulationPolicy } from "../../src/index.js";
import { applyCandidate, type Candidate, candidateOf, type Measure, type Ranges, tune } from "../../src/tuner/index.js";
import { median } from "../../src/tuner/statistics.js";
import { syntheticMeasure, trueNs } from "./synthetic.js";

const start: Candidate = { initialThreshold: 4, raiseFactor: 2, idleVisits: 100_000 };
const ranges: Ranges = { initialThreshold: [1, 4096], raiseFactor: [1, 32], idleVisits: [5000, 1_000_000] };
const optimum: Candidate = { initialThreshold: 150, raiseFactor: 6, idleVisits: 20_000 };
const quiet = { optimum, noise: 0, slowState: 1, seed: 1 };
const seeds = Array.from({ length: 40 }, (_, i) => i + 1);

const loss = (candidate: Candidate): number => trueNs(candidate, optimum) / trueNs(optimum, optimum) - 1;

describe("tune", () => {
  it("finds the lowest point of each parameter, within its grid, on a machine without noise", async () => {
    const { best, gain } = await tune({ measure: syntheticMeasure(quiet), start, ranges });
    expect(loss(best)).toBeLessThan(0.005);
    expect(gain).toBeCloseTo(trueNs(best, optimum) / trueNs(start, optimum), 6);
  });

  it("finds N = 1 for T = N + 1/N, and fits exactly that", async () => {
    const measure: Measure = ({ initialThreshold: n }) => [{ ns: n + 1 / n }];
    const { best, fit } = await tune({ measure, start, ranges, zooms: 1, rounds: 1 });
    expect(best).toEqual({ ...start, initialThreshold: 1 });
    expect(fit.a).toBeCloseTo(1, 6);
    expect(fit.b).toBeCloseTo(1, 6);
    expect(fit.c).toBeCloseTo(0, 6);
    expect(fit.optimum).toBeCloseTo(1, 6);
  });

  // A machine with 10% noise that now and then flips between two states, one 1.7 times as slow as the other.
  const noisy = (seed: number): Measure => syntheticMeasure({ optimum, noise: 0.1, slowState: 1.7, seed });
  const thresholdLoss = (initialThreshold: number): number => loss({ ...optimum, initialThreshold });
  const countAbove = (losses: readonly number[], limit: number): number => losses.filter((value) => value > limit).length;

  it("finds the threshold, and loses little in all, on a noisy machine that flips between two states", async () => {
    const found = await Promise.all(seeds.map((seed) => tune({ measure: noisy(seed), start, ranges, rounds: 9, seed })));
    const thresholds = found.map(({ best }) => thresholdLoss(best.initialThreshold));
    expect(countAbove(thresholds, 0.05), thresholds.join(" ")).toBeLessThanOrEqual(2);
    const losses = found.map(({ best }) => loss(best));
    expect(median(losses)).toBeLessThan(0.05);
    expect(countAbove(losses, 0.2), losses.join(" ")).toBe(0);
  });

  it("control: comparing times of different moments on that machine goes wrong", async () => {
    // As many calls a value, but one value after the other, and times instead of ratios.
    const thresholds = await Promise.all(
      seeds.map(async (seed) => {
        const measure = noisy(seed);
        const values = Array.from({ length: 13 }, (_, i) => 2 ** i);
        const times: number[] = [];
        for (const value of values) {
          const runs: number[] = [];
          for (let i = 0; i < 27; i += 1) {
            for (const { ns } of await measure({ ...optimum, initialThreshold: value })) runs.push(ns);
          }
          times.push(median(runs));
        }
        return thresholdLoss(values[times.indexOf(Math.min(...times))] ?? 1);
      }),
    );
    expect(countAbove(thresholds, 0.05)).toBeGreaterThan(5);
    expect(Math.max(...thresholds)).toBeGreaterThan(0.3);
  });

  it("keeps values that nothing beats by more than the noise", async () => {
    let changed = 0;
    for (const seed of seeds) {
      const flat = syntheticMeasure({ optimum, noise: 0.05, slowState: 1.7, seed });
      const { best } = await tune({ measure: () => flat(optimum), start, ranges, rounds: 9, seed });
      changed += (["initialThreshold", "raiseFactor", "idleVisits"] as const).filter((name) => best[name] !== start[name]).length;
    }
    expect(changed).toBeLessThanOrEqual(3); // of 120; a search that took the lowest point would change nearly all
  });

  it("is repeatable from its seed, and returns every sample", async () => {
    const run = () =>
      tune({ measure: syntheticMeasure({ ...quiet, noise: 0.1 }), start, ranges, zooms: 0, rounds: 2, gridPoints: 4, seed: 5 });
    const first = await run();
    expect(await run()).toEqual(first);
    expect(first.samples).toHaveLength(3 * (2 * 9 + 6 * 3)); // parameters × (2 rounds of 4 values and 5 references + 6 of 1 and 2)
    expect(first.curve.map((point) => point.value)).toEqual([1, 16, 256, 4096]);
  });

  it("stops where its signal is aborted, and tells how far it is", async () => {
    const controller = new AbortController();
    const looks: string[] = [];
    const search = tune({
      measure: syntheticMeasure(quiet),
      start,
      ranges,
      signal: controller.signal,
      onProgress: ({ parameter, look }) => {
        looks.push(`${parameter} ${look}`);
        if (look === 2) controller.abort();
      },
    });
    await expect(search).rejects.toThrow("aborted");
    expect(looks).toEqual(["initialThreshold 1", "initialThreshold 2"]);
  });

  const fine: Measure = () => [{ ns: 1 }];
  const refused: [what: string, options: { ranges?: Partial<Ranges>; measure?: Measure; gridPoints?: number; rounds?: number }][] = [
    ["ranges.initialThreshold", { ranges: { initialThreshold: [0, 10] } }],
    ["ranges.initialThreshold", { ranges: { initialThreshold: [10, 1] } }],
    ["ranges.initialThreshold", { ranges: { initialThreshold: [1, 5000] } }],
    ["ranges.raiseFactor", { ranges: { raiseFactor: [1, 1.001] } }],
    ["ranges.idleVisits", { ranges: { idleVisits: [5000, 2 ** 33] } }],
    ["gridPoints", { gridPoints: 2 }],
    ["rounds", { rounds: 0 }],
    ["result of measure", { measure: () => [] }],
    ["result of measure", { measure: () => [{ ns: 0 }] }],
    ["result of measure", { measure: () => [{ ns: Number.NaN }] }],
  ];
  it.each(refused)("names what is wrong: %s %j", async (what, { ranges: some, ...options }) => {
    const attempt = tune({ measure: fine, start, ...options, ranges: { ...ranges, ...some } });
    await expect(attempt).rejects.toThrow(InvalidArgumentError);
    await expect(attempt).rejects.toThrow(what);
  });
});

describe("a candidate", () => {
  it("goes into a policy that the engine accepts, whatever the ranges allow", () => {
    for (const name of ["default", "fixed", "priority"] as const) {
      for (const initialThreshold of ranges.initialThreshold) {
        for (const idleVisits of ranges.idleVisits) {
          const candidate = { initialThreshold, raiseFactor: 3, idleVisits };
          const policy = applyCandidate(simulationPolicy(name), candidate);
          expect(() => encodePolicy(policy)).not.toThrow();
          expect(candidateOf(policy)).toEqual(candidate);
        }
      }
    }
  });
});
