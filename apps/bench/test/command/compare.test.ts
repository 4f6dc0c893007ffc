import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-compare-"));
afterAll(() => rmSync(folder, { recursive: true }));

function report(name: string, us: number, samples: number): string {
  const times = Array.from({ length: samples }, (_, i) => us * (1 + 0.01 * Math.sin(i)));
  const side = { time: us, alg_bw: 1, bus_bw: 1, nwrong: 0 };
  const row = { size: 4096, count: 1024, type: "float", redop: "sum", root: "    -1", out_of_place: side, in_place: null };
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ version: 3, config: {}, results: [{ ...row, out_of_place_per_iter: { times_us: times } }] }));
  return path;
}

describe("dfccl compare", () => {
  it.each([
    ["the same", 101, 20, [], 0, /Nothing is slower, of 1 case/],
    ["slower", 120, 20, [], 1, /4 KiB +float sum +nccl +out of place +100 µs +120 µs +1\.20 +1\.\d+ – 1\.\d+ +slower\n\n1 slower/],
    ["slower, but by less than what is tolerated", 120, 20, ["--tolerance", "30"], 0, /Nothing is slower/],
    ["measured too seldom", 200, 3, [], 3, /nothing could be judged/],
  ])("ends for a run that is %s with a code for CI", async (_, us, samples, flags, exit, message) => {
    const { code, stdout } = await runCommand(["compare", report("a.json", 100, 20), report("b.json", us, samples), ...flags]);
    expect(stdout).toMatch(message);
    expect(code).toBe(exit);
  });

  it("prints JSON", async () => {
    const { code, stdout } = await runCommand(["compare", report("a.json", 100, 20), report("b.json", 120, 20), "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "comparison", regressions: 1, rows: [{ verdict: "slower", size: 4096 }] });
    expect(code).toBe(1);
  });

  it("ends with 2 for what is no report", async () => {
    const { code, stderr } = await runCommand(["compare", report("a.json", 100, 20), "/nowhere.json"]);
    expect(stderr).toMatch(/can't be read/);
    expect(code).toBe(2);
  });
});
