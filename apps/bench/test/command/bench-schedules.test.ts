import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const small = ["bench", "schedules", "-n", "2", "--steps", "2", "--scale", "0.001", "--hybrid-scale", "0.001", "--compute-ms", "5"];

describe("dfccl bench schedules", () => {
  it("measures every schedule and every kind of parallelism, and writes both files", async () => {
    const folder = mkdtempSync(join(tmpdir(), "dfccl-schedules-"));
    try {
      const files = ["--copies", "--json", join(folder, "a.json"), "--markdown", join(folder, "a.md")];
      const { code, stdout } = await runCommand([...small, "-r", "3", "--hybrid", "all", ...files]);
      expect(code).toBe(0);
      expect(stdout).toContain("coordinator, copying");
      const report = JSON.parse(readFileSync(join(folder, "a.json"), "utf8"));
      const [{ ranks, timings }] = report.dataParallel;
      expect(ranks).toBe(3);
      expect(timings.map(({ name }: { name: string }) => name)).toEqual([
        "preemptive",
        "static",
        "coordinator",
        "coordinator, copying",
        "learned",
      ]);
      for (const { rounds } of timings) expect(rounds.map((round: number[]) => round.length)).toEqual([2, 2]);
      expect(report.hybrid.map(({ setting }: { setting: string }) => setting)).toEqual([
        "vit-dp",
        "vit-tp",
        "vit-tp-dp",
        "vit-3d",
        "gpt2-3d",
      ]);
      expect(readFileSync(join(folder, "a.md"), "utf8")).toMatch(/\| preemptive \| [\d.]+ \|/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    ["--hybrid", "vit-4d"],
    ["-w", "nothing", "--hybrid", "all"],
    ["-r", "1"],
  ])("refuses %s %s, and says what it knows", async (...flags) => {
    const { code, stderr } = await runCommand([...small, ...flags]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/vit-tp-dp|resnet50|from 2 to 64/);
  });
});
