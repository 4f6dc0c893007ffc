import { describe, expect, it } from "vitest";
import { interleave, type Timing, throughputOf } from "../../src/schedules/interleave.js";

const timing = (name: string, rounds: readonly (readonly number[])[]): Timing => ({
  name,
  medianMs: 0,
  variation: 0,
  stepsPerSecond: 0,
  rounds,
});

describe("interleaved rounds", () => {
  it("begin with another contender each time, and give each its steps", async () => {
    const ran: string[] = [];
    const contenders = ["a", "b", "c"].map((name) => ({ name, step: async () => void ran.push(name) }));
    const { signal } = new AbortController();
    const timings = await interleave(contenders, { rounds: 3, steps: 2, signal, onStep: () => undefined });
    expect(ran.join("")).toBe(["aabbcc", "bbccaa", "ccaabb"].join(""));
    expect(timings.map(({ name, rounds }) => [name, rounds.map(({ length }) => length)])).toEqual(
      ["a", "b", "c"].map((name) => [name, [2, 2, 2]]),
    );
  });

  it("stop when they are interrupted", async () => {
    const controller = new AbortController();
    const step = async (): Promise<void> => controller.abort(new Error("enough"));
    const options = { rounds: 3, steps: 2, signal: controller.signal, onStep: () => undefined };
    await expect(interleave([{ name: "a", step }], options)).rejects.toThrow("enough");
  });

  it("compare round by round, so that a slow moment of the machine doesn't count", () => {
    const fast = timing("fast", [
      [1, 1, 9],
      [10, 10, 10],
      [1, 1, 1],
    ]);
    const slow = timing("slow", [
      [2, 2, 2],
      [20, 20, 20],
      [2, 2, 30],
    ]);
    expect(throughputOf(fast, slow)).toBe(2);
    expect(throughputOf(slow, fast)).toBe(0.5);
  });
});
