import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-train-command-"));
afterAll(() => rmSync(folder, { recursive: true }));

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
    expect(stderr).toMatch(/Training 100% {2}loss \d\.\d{4} · [\d,]+\/s\n/);
    expect(stdout).toMatch(/mnist: 1 rank \(dp=1 tp=1 pp=1\), 10 steps of 32 records, preemptive/);
    expect(stdout).toMatch(/right on the test part +\d+\.\d\d %\n/);
    expect(code).toBe(0);
  });

  it("reduces a model's gradients without the model", async () => {
    const args = ["train", "--synthetic", "resnet50", "--scale", "0.001", "--ranks", "2", "--steps", "3", "--json"];
    const { code, stdout } = await runCommand(args);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "synthetic", schedule: "preemptive", steps: 3, losses: [], wrong: 0 });
    expect(code).toBe(0);
  });

  it("measures hand-offs", async () => {
    const { code, stdout } = await runCommand(["bench", "loader", "--loaders", "2", "--count", "50", "--json", "-"]);
    const { kind, figures } = JSON.parse(stdout);
    expect(kind).toBe("loader");
    expect(figures.map((figure: { kind: string }) => figure.kind)).toEqual([
      "flip-flop and ring",
      "mutex queue",
      "wave",
      "condition variable",
      "wave",
      "condition variable",
    ]);
    for (const { medianMicros, p99Micros } of figures) expect(p99Micros).toBeGreaterThanOrEqual(medianMicros);
    expect(code).toBe(0);
  });

  it("stops on SIGINT with a checkpoint, and resumes from it", async () => {
    const run = join(folder, "run");
    const args = ["train", "mnist", "--ranks", "2", "--batch", "8", "--checkpoint", run];
    const stopped = await runCommand([...args, "--steps", "120"], { when: ["Training 10%", (child) => child.kill("SIGINT")] });
    expect(stopped.stderr.replaceAll(/\s+/g, " ")).toMatch(/interrupted. Go on from .*step-\d+.checkpoint with --resume/);
    expect(stopped.code).toBe(130);
    const resumed = await runCommand([...args, "--steps", "120", "--resume", "--json"]);
    const { losses, resumedAt } = JSON.parse(resumed.stdout);
    expect(resumedAt).toBeGreaterThanOrEqual(12);
    expect(losses).toHaveLength(120);
  });

  it.each([
    [["train"], "Say what to train: mnist, gpt or synthetic."],
    [["train", "mnist", "--synthetic", "gpt2"], "--synthetic gpt2 is a model of its own: leave out mnist."],
    [["train", "imagenet"], 'There is no model "imagenet"'],
    [["train", "mnist", "--ranks", "3"], "A global batch of 32 records can't be shared among 3 ranks"],
    [["train", "gpt", "--ranks", "4", "--parallel", "tp=3"], "makes 3 ranks, not 4"],
    [["train", "mnist", "--checkpoint", folder, "--resume"], "There is no checkpoint in"],
    [["train", "mnist", "--schedule", "luck"], "Allowed choices are preemptive, static, coordinator, learned"],
  ])("refuses what can't be, before anything starts: %j", async (args, message) => {
    const { code, stderr } = await runCommand(args);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(message);
    expect(code).toBe(2);
  });
});
