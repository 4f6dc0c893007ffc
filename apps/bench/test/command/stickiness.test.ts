import { expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const small = ["stickiness", "-c", "4", "-n", "2", "--late", "1"];

it("runs both thresholds with nobody and with the last rank late, whatever the number of ranks", async () => {
  const { code, stdout } = await runCommand([...small, "-r", "2", "--json", "-"]);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ kind: "stickiness", ranks: 2, collectives: 4, iterations: 2, lateRank: 1 });
  const settings = report.runs.map(({ policy, lateMs }: { policy: string; lateMs: number }) => `${policy} ${lateMs}`);
  expect(settings).toEqual(["fixed 0", "adaptive 0", "fixed 1", "adaptive 1"]);
  expect(code).toBe(0);
});

it("refuses a late rank that isn't there, and says which are", async () => {
  const { code, stderr } = await runCommand([...small, "-r", "3", "--late-rank", "3"]);
  expect(stderr).toContain("--late-rank 3 is no rank: give one from 0 to 2.");
  expect(code).toBe(2);
});
