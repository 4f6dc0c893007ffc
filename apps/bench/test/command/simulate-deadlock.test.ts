import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-simulate-"));
afterAll(() => rmSync(folder, { recursive: true }));

function configFile(name: string, config: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof config === "string" ? config : JSON.stringify(config));
  return path;
}

const grouping = { policy: "3d", tp: 2, dp: 3, pp: 2, collectivesPerTpGroup: 20, collectivesPerDpGroup: 60 };
const stages = { model: "synchronization", grouping, disorderProbability: 0.05, synchronizationProbability: 0.05 };
const small = configFile("small.json", stages);
const ordered = configFile("ordered.json", { ...stages, disorderProbability: 0 });
const endless = configFile("endless.json", { ...stages, grouping: { ...grouping, pp: 64 }, disorderProbability: 1e-4 });

describe("dfccl simulate deadlock", () => {
  it("counts deadlocks, prints one GPU by GPU, and draws it", async () => {
    const [drawing, drawings, report] = ["deadlock.svg", "drawings", "report.html"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const files = ["--explain", drawing, "--svg", drawings, "--report", report];
    const { code, stdout } = await runCommand(["simulate", "deadlock", small, "-r", "400", "--shortcut", "50", ...files]);
    expect(stdout).toMatch(/rounds\s+400\n\s+deadlocks\s+\d+\n\s+ratio\s+[\d.]+%\n\s+95% interval/);
    expect(stdout).toMatch(
      /what deadlocked, on daemons\n\s+preemption and quit\s+(\d+) of \1 complete\n\s+control: preemption off\s+0 of \1 complete/,
    );
    expect(stdout).toMatch(/Deadlock in round \d+:\n {2}GPU \d+ executes DP \d #\d+, and waits for GPU \d+/);
    expect(readFileSync(drawing, "utf8")).toMatch(/^<svg [\s\S]*<title>A deadlock of \d+ GPUs[\s\S]*GPU \d+[\s\S]*<\/svg>\n$/);
    expect(readFileSync(join(drawings, "timeline.svg"), "utf8")).toMatch(/<title>Round \d+: how it deadlocks[\s\S]*GPU \d+/);
    expect(readFileSync(report, "utf8")).toMatch(/<h2>The first deadlock over time<\/h2>[\s\S]*data:image\/svg\+xml/);
    expect(code).toBe(0);
  });

  it("draws curves with the paper's points", async () => {
    const drawings = join(folder, "curves");
    const { code, stdout } = await runCommand(["simulate", "deadlock", "--preset", "figures", "-r", "20", "--svg", drawings]);
    expect(stdout).toMatch(/paper: \(4, 4, 4\)-3D .*1\.10%/);
    expect(readFileSync(join(drawings, "ratio-gpus.svg"), "utf8")).toMatch(/<title>Over GPUs/);
    expect(code).toBe(0);
  });

  it("gives the same result for any number of workers", async () => {
    const results = await Promise.all(
      ["0", "1", "2", "5"].map(async (workers) => {
        const { stdout } = await runCommand([
          "simulate",
          "deadlock",
          small,
          "-r",
          "300",
          "--shortcut",
          "40",
          "--json",
          "--workers",
          workers,
        ]);
        return { ...JSON.parse(stdout), seconds: 0 };
      }),
    );
    expect(results[0].rows[0].deadlocks).toBeGreaterThan(10);
    for (const result of results) expect(result).toEqual(results[0]);
  });

  it("finds none, and draws none, where every GPU keeps to the order", async () => {
    const drawing = join(folder, "none.svg");
    const { code, stdout } = await runCommand(["simulate", "deadlock", ordered, "-r", "200", "--explain", drawing]);
    expect(stdout).toMatch(/deadlocks\s+0\n/);
    expect(stdout).toContain("No round deadlocked");
    expect(existsSync(drawing)).toBe(false);
    expect(code).toBe(0);
  });

  it("prints the paper's table beside its own", async () => {
    const { code, stdout } = await runCommand([
      "simulate",
      "deadlock",
      "--preset",
      "table1",
      "-r",
      "8",
      "--draws",
      "1",
      "--shortcut",
      "0",
      "--whole",
      "0",
    ]);
    expect(stdout).toMatch(/\(4, 4, 4\)-3D\s+400, 1200\s+1e-6\s+–\s+9\.97%/);
    expect(stdout).toMatch(/\(32, 64\)-free\s+800 or 2400\s+4e-5\s+4e-5\s+6\.94%\s+3\.22%/);
    expect(stdout.match(/\((?:4, 4, 4|8, 6, 64|1, 8|32, 64|32, 128)\)-(?:3D|free)/g)).toHaveLength(21);
    expect(code).toBe(0);
  });

  it("interrupted, keeps the rounds that are finished and prints them as partial", async () => {
    const { code, stdout } = await runCommand(["simulate", "deadlock", endless, "-r", "100000000", "--json"], {
      when: ["Rounds 0%", (child) => child.kill("SIGINT")],
    });
    const result = JSON.parse(stdout);
    expect(result.partial).toBe(true);
    expect(result.rows[0]).toMatchObject({ partial: true });
    expect(result.rows[0].rounds).toBeLessThan(100_000_000);
    expect(code).toBe(130);
  });

  it.each([
    ["a key that isn't known", configFile("key.json", { ...stages, speed: 1 }), /speed is 1: no such key is known/],
    ["a probability above 1", configFile("p.json", { ...stages, disorderProbability: 2 }), /disorderProbability is 2: must be <=1/],
    ["what isn't JSON", configFile("text.json", "{"), /can't be read: it isn't JSON/],
    ["a file that isn't there", join(folder, "none.json"), /can't be read:\s+there\s+is\s+no\s+such\s+file/],
  ])("refuses %s before any work", async (_, path, message) => {
    const { code, stdout, stderr } = await runCommand(["simulate", "deadlock", path]);
    expect(stderr.replaceAll("\n", " ")).toMatch(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  it.each([
    [[], /Give a configuration file or --preset/],
    [[small, "--preset", "table1"], /Give either .* or --preset table1,\s+not\s+both/],
    [["--preset", "table9"], /Allowed\s+choices\s+are\s+table1/],
    [["--preset", "table1", "--explain", join(folder, "x.svg")], /--explain draws the deadlock of a configuration/],
  ])("asks for one thing to simulate: %j", async (args, message) => {
    const { code, stderr } = await runCommand(["simulate", "deadlock", ...args]);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});
