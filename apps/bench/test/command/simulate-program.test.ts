import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const hierarchical = fileURLToPath(new URL("../../../../examples/programs/hierarchical.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dfccl-simulate-program-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("dfccl simulate program", () => {
  it("tells how long a program takes, and what goes over the network", async () => {
    const { code, stdout } = await runCommand(["simulate", "program", hierarchical, "--gpus", "2", "-b", "96K", "--json"]);
    const { rows, ...facts } = JSON.parse(stdout);
    expect(facts).toEqual({ program: "hierarchical", ranks: 6, gpusPerNode: 2, cardsPerNode: 2 });
    // Three machines reduce and gather in rings, each rank half of the data: 2 × 2/3 of it, from each of six ranks.
    expect(rows).toEqual([
      { bytes: 98_304, endNs: expect.any(Number), steps: expect.any(Number), networkBytes: 6 * (98_304 / 2) * (4 / 3) },
    ]);
    expect(code).toBe(0);
  });

  it("prints a table, and draws it", async () => {
    const { code, stdout } = await runCommand(["simulate", "program", hierarchical, "-b", "4K,1M", "--svg", folder]);
    expect(stdout).toMatch(/6 ranks, 6 a machine.*\n.*bytes a rank.*\n.*\n +4 KiB .*nothing\n +1 MiB .*nothing\nDrawn in/);
    expect(readFileSync(join(folder, "program.svg"), "utf8")).toContain("hierarchical: time over size");
    expect(code).toBe(0);
  });

  it("sweeps the tile", async () => {
    const { code, stdout } = await runCommand(["simulate", "program", "--preset", "tiles", "--json"]);
    const { rows } = JSON.parse(stdout);
    const times = rows.filter(({ bytes }: { bytes: number }) => bytes === 2 ** 24).map(({ ns }: { ns: number }) => ns);
    const best = times.indexOf(Math.min(...times));
    expect(best).toBeGreaterThan(0);
    expect(best).toBeLessThan(times.length - 1);
    expect(code).toBe(0);
  });

  it.each([
    [[], /Give a program's file or --preset/],
    [[hierarchical, "--preset", "tiles"], /Give either .*hierarchical\.ts or --preset tiles,\s+not\s+both/],
    [[hierarchical, "--gpus", "2", "--cards", "3"], /--cards 3 is more than a card for each of 2 GPUs/],
    [[join(folder, "none.ts")], /none\.ts/],
    [[hierarchical, "--bytes", "none"], /must be bytes such as/],
  ])("refuses %j", async (args, message) => {
    const { code, stderr } = await runCommand(["simulate", "program", ...args]);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});
