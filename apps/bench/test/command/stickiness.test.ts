import { describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const small = ["stickiness", "-n", "2", "--late", "1"];

describe("dfccl stickiness", () => {
  it.each([
    [2, [], 1],
    [3, [], 2],
    [3, ["--late-rank", "0"], 0],
  ])(
    "runs both thresholds on %i ranks (%j), with nobody and with one rank late, and completes everything",
    async (ranks, flags, lateRank) => {
      const { code, stdout } = await runCommand([...small, "-r", `${ranks}`, "-c", "8", "-b", "1K", ...flags, "--json", "-"]);
      const report = JSON.parse(stdout);
      expect(report).toMatchObject({ kind: "stickiness", ranks, collectives: 8, iterations: 2, lateRank });
      const settings = report.runs.map(({ policy, lateMs }: { policy: string; lateMs: number }) => `${policy} ${lateMs}`);
      expect(settings).toEqual(["fixed 0", "adaptive 0", "fixed 1", "adaptive 1"]);
      for (const run of report.runs) {
        expect(run.iterationsPerSecond).toBeGreaterThan(0);
        const ids = run.completions.map(({ collective }: { collective: number }) => collective);
        expect(ids.toSorted((a: number, b: number) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      }
      expect(code).toBe(0);
    },
  );

  it("refuses a late rank that isn't there, and says which are", async () => {
    const { code, stderr } = await runCommand([...small, "-r", "3", "--late-rank", "3"]);
    expect(stderr).toContain("--late-rank 3 is no rank: give one from 0 to 2.");
    expect(code).toBe(2);
  });
});
