import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-tune-"));
afterAll(() => rmSync(folder, { recursive: true }));
const env = { XDG_CONFIG_HOME: folder };
const stored = join(folder, "dfccl", "tuning.json");
const tiny = join(folder, "tiny.json");
writeFileSync(tiny, JSON.stringify({ name: "tiny", tensors: [1, 70, 99, 4].map((elements) => ({ elements })) }));
const small = ["tune", "-w", tiny, "--scale", "1", "-r", "2", "--quick"];

describe("dfccl tune", () => {
  it("measures, shows the curve and its fit, and stores what disorder --policy tuned uses", async () => {
    const { code, stdout } = await runCommand(small, { env });
    expect(stdout).toContain("initial spin threshold (visits)");
    expect(stdout).toMatch(/Fitted: T\(N\) = .* · N \+ .* \/ N \+ /);
    expect(stdout).toMatch(/quit period, visits +\d+ +\d+\n/);
    expect(stdout.replaceAll("\n", " ")).toContain(`Stored in ${stored}; dfccl disorder --policy tuned uses it.`);
    expect(code).toBe(0);

    const used = await runCommand(["disorder", "-w", tiny, "-r", "2", "-i", "2", "--policy", "tuned", "--json"], { env });
    expect(JSON.parse(used.stdout)).toMatchObject({ policy: "tuned", completed: 16, wrong: 0 });
    expect(used.code).toBe(0);
  });

  it("prints one JSON object, and stores where it is told to", async () => {
    const path = join(folder, "elsewhere.json");
    const { stdout } = await runCommand([...small, "--json", "--output", path], { env });
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ path, best: expect.any(Object), start: expect.any(Object), gain: expect.any(Number) });
    expect(result.curve.length).toBeGreaterThanOrEqual(5);
    expect(result.measurements).toBeGreaterThan(100);
    const file = JSON.parse(readFileSync(path, "utf8"));
    expect(file.best).toEqual(result.best);

    writeFileSync(path, JSON.stringify({ ...file, machine: { ...file.machine, cores: 9999 } }));
    const { code, stderr } = await runCommand(["disorder", "-w", tiny, "--policy", path], { env });
    expect(stderr.replaceAll("\n", " ")).toContain("was measured on another machine. Run dfccl tune on this one.");
    expect(code).toBe(2);
  });

  it("says where nothing can be stored before it measures", async () => {
    const { code, stdout, stderr } = await runCommand(small, { env: { XDG_CONFIG_HOME: "/proc/nope" } });
    expect(stderr.replaceAll("\n", " ")).toContain("Nothing can be written to /proc/nope/dfccl/tuning.json (ENOENT).");
    expect(stderr).toContain("XDG_CONFIG_HOME");
    expect([code, stdout]).toEqual([1, ""]);
    for (const path of ["/proc/x.json", "/nosuch/x.json", folder]) {
      expect((await runCommand([...small, "--output", path], { env })).code).toBe(2);
    }
  });

  it("stores nothing when it is interrupted", async () => {
    const path = join(folder, "interrupted.json");
    const { code, stderr } = await runCommand([...small, "--output", path], {
      env,
      when: ["Measuring 0%", (child) => child.kill("SIGINT")],
    });
    expect(stderr).toContain("Interrupted: nothing is stored.");
    expect(existsSync(path)).toBe(false);
    expect(code).toBe(130);
  });
});
