import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clone as thisClone } from "../../src/clone.js";
import { overheadsOutput } from "../overheads/overheads-output.js";
import { type FakeClone, makeFakeClone } from "./fake-clone.js";
import { type Finished, runCommand, type When } from "./run-command.js";

let clone: FakeClone;
beforeEach(() => {
  clone = makeFakeClone();
  clone.tool("cmake", "exit 0");
  writeFileSync(join(clone.root, "overheads.txt"), overheadsOutput(10));
  clone.program("overheads_bench", `/bin/cat "${clone.root}/overheads.txt"`);
  // Stands for the benchmark of @dfccl/core.
  mkdirSync(join(clone.root, "packages/core/bench"), { recursive: true });
  symlinkSync(join(thisClone, "node_modules"), join(clone.root, "node_modules"));
  const rates = { rows: [{ what: "submissions", median: 6.5, best: 8.25 }] };
  writeFileSync(join(clone.root, "packages/core/bench/run.ts"), `console.log('${JSON.stringify(rates)}')`);
});
afterEach(() => clone.remove());

function measure(args: readonly string[], when?: When): Promise<Finished> {
  return runCommand(["overheads", ...args], clone, when);
}

describe("npm run bench:overheads", () => {
  it("shows every part, the queues, whole all-reduces, JavaScript and memory", async () => {
    const { code, stdout } = await measure(["-n", "2"]);
    expect(stdout).toMatch(/read an SQE +10\.0 +5\.0\n/);
    expect(stdout).toMatch(/owned +10\.0 +10\.0\n +cas /);
    expect(stdout).toMatch(/8 B +2 +10\.0 +1\.00 +4,500 +10\.00\n/);
    expect(stdout).toMatch(/submissions +6\.50 +8\.25\n/);
    expect(stdout).toMatch(/1,000 +8 +583 B +1\.17 KiB +0 B\n/);
    expect(stdout).toContain("100 million runs a second that do nothing");
    expect(code).toBe(0);
  });

  it("writes figures with a header, and a page", async () => {
    const page = join(clone.root, "overheads.md");
    const { code, stdout } = await measure(["--quick", "--json", "-", "--markdown", page]);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      header: { repetitions: 1, probe: { coreRoundTripNs: 85 } },
      javascript: [{ what: "submissions", median: 6.5, best: 8.25 }],
      memory: { registered: 1000 },
      noopRunsPerSecond: 1e8,
    });
    expect(readFileSync(page, "utf8")).toContain("| read an SQE | 10.0 | 5.0 |");
    expect(code).toBe(0);
  });

  it("fails where a program fails, and shows what it wrote", async () => {
    clone.program("overheads_bench", "echo no shared memory; exit 1");
    const { code, stderr } = await measure(["--quick"]);
    expect(stderr).toMatch(/overheads_bench --budget 0.05 ended with 1\.\nno shared memory\nSee what it wrote/);
    expect(code).toBe(1);
  });

  it("ends when it is interrupted", async () => {
    clone.program("overheads_bench", "/bin/sleep 1000");
    const { code, stdout } = await measure(["--quick"], ["Measuring 0%", (child) => child.kill("SIGINT")]);
    expect(stdout).toContain("Interrupted: no file is written.");
    expect(code).toBe(130);
  });
});
