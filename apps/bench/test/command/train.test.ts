import { describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

describe("dfccl train", () => {
  it("trains digits on two ranks and prints one JSON object", async () => {
    const { code, stdout } = await runCommand(["train", "mnist", "--ranks", "2", "--steps", "6", "--json"]);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ model: "mnist", ranks: 2, schedule: "preemptive", steps: 6, seed: 1, globalBatch: 32 });
    expect(result.losses).toHaveLength(6);
    expect(result.samplesPerSecond).toEqual(expect.any(Number));
    expect(code).toBe(0);
  });

  it("shows loss, speed and time left, and sums up", async () => {
    const { code, stdout, stderr } = await runCommand(["train", "mnist", "--ranks", "1", "--steps", "10"]);
    expect(stderr).toMatch(/Training 100% {2}loss \d\.\d{4} · [\d,]+\/s · /);
    expect(stdout).toMatch(/mnist: 1 rank, 10 steps of 32 records, preemptive/);
    expect(stdout).toMatch(/right on the test part +\d+\.\d\d %\n/);
    expect(code).toBe(0);
  });

  it.each([
    [["train", "imagenet"], 'There is no model "imagenet"'],
    [["train", "mnist", "--ranks", "3"], "A global batch of 32 records can't be shared among 3 ranks"],
    [["train", "mnist", "--schedule", "luck"], "Allowed choices are preemptive, static, coordinator, learned"],
  ])("refuses what can't be, before anything starts: %j", async (args, message) => {
    const { code, stderr } = await runCommand(args);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(message);
    expect(code).toBe(2);
  });
});
