import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type CommandOptions, escapeCharacter, runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-command-"));
afterAll(() => rmSync(folder, { recursive: true }));

const tiny = join(folder, "tiny.json");
writeFileSync(tiny, JSON.stringify({ name: "tiny", tensors: [1, 70, 999, 4].map((elements) => ({ elements })) }));
const small = ["disorder", "-w", tiny, "-r", "4", "-i", "3"];
const endless = ["disorder", "-w", tiny, "-r", "4", "-i", "1000000"];

describe("dfccl disorder", () => {
  it("completes random orders bit for bit, and exits with 0", async () => {
    const { code, stdout } = await runCommand([...small, "--sync", "0.2"]);
    expect(stdout).toMatch(/collectives completed\s+48 of 48\n\s+wrong results\s+0\n/);
    expect(stdout).toMatch(/all 48 collectives completed, and every result is right to the\s+bit/);
    expect(code).toBe(0);
  });

  it.each(["random", "reverse", "skewed"])("shows that %s orders deadlock without preemption", async (order) => {
    const { code, stdout } = await runCommand([...small, "--order", order, "--seed", "1", "--control"]);
    expect(stdout).toMatch(/Deadlock, after \d+ completions:\n {4}rank \d executes tensor \d, and waits for rank \d,\n/);
    expect(stdout).toContain("Without preemption these orders deadlock; with it, all 48 collectives");
    expect(code).toBe(0);
  });

  it("exits with 1 where the control completes, because nothing was shown", async () => {
    const { code, stdout } = await runCommand([...small, "--order", "same", "--sync", "0", "--control"]);
    expect(stdout).toContain("It completed: these orders do not deadlock.");
    expect(stdout).toContain("these orders show nothing");
    expect(code).toBe(1);
  });

  it("prints one JSON object", async () => {
    const { code, stdout } = await runCommand([...small, "--control", "--seed", "5", "--json"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ workload: "tiny", ranks: 4, iterations: 3, order: "random", seed: 5, partial: false });
    expect(result).toMatchObject({ expected: 48, completed: 48, wrong: 0, control: { deadlocked: true } });
    for (const field of ["preemptions", "quits", "seconds"]) expect(result[field]).toEqual(expect.any(Number));
    expect(result.control.cycle.length).toBeGreaterThanOrEqual(4);
    expect(result.control.cycle[0]).toEqual({
      rank: expect.any(Number),
      id: expect.any(Number),
      run: expect.any(Number),
      state: expect.stringMatching(/^(executing|queued|not submitted)$/),
      tensor: expect.stringMatching(/^tensor \d$/),
    });
    expect(code).toBe(0);
  });

  it("says null for a control that nobody asked for", async () => {
    const { stdout } = await runCommand([...small, "--json"]);
    expect(JSON.parse(stdout).control).toBeNull();
  });

  it("runs ResNet-50's list on eight ranks", async () => {
    const { code, stdout } = await runCommand(["disorder", "--scale", "0.01", "-i", "2", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ expected: 2576, completed: 2576, wrong: 0 });
    expect(code).toBe(0);
  });

  it("runs on one rank", async () => {
    expect((await runCommand(["disorder", "-w", tiny, "-r", "1", "-i", "2"])).code).toBe(0);
  });

  it("refuses what doesn't fit into memory before it starts", async () => {
    const huge = join(folder, "huge.json");
    writeFileSync(huge, JSON.stringify({ tensors: new Array(4000).fill({ elements: 2 ** 31 }) }));
    const { code, stderr } = await runCommand(["disorder", "-w", huge]);
    expect(stderr).toMatch(/The buffers take [\d.e+]+ TiB, and .* are free. Take fewer --ranks/);
    expect(code).toBe(1);
  });
});

describe("interrupted", () => {
  const whenUnderWay = (signal: NodeJS.Signals): CommandOptions => ({ when: ["Preemptive 0%", (child) => child.kill(signal)] });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("by %s, it prints what was done until then, marked as partial, and exits with %i", async (signal, expected) => {
    const { code, stdout } = await runCommand(endless, whenUnderWay(signal));
    expect(stdout).toMatch(
      /Interrupted (?:in iteration [\d,]+, a partial result: [1-9][\d,]* of 16,000,000 collectives|before any collective completed)/,
    );
    expect(stdout).toMatch(/wrong results\s+0\n/);
    expect(code).toBe(expected);
  });

  it("prints JSON that says so", async () => {
    const { code, stdout } = await runCommand([...endless, "--json"], whenUnderWay("SIGINT"));
    expect(JSON.parse(stdout)).toMatchObject({ partial: true, wrong: 0, expected: 16_000_000 });
    expect(code).toBe(130);
  });

  it("during the control, it says that nothing was shown", async () => {
    const { code, stdout } = await runCommand([...endless, "--control", "--order", "same", "--sync", "0"], {
      when: ["Control 0%", (child) => child.kill("SIGINT")],
    });
    expect(stdout).toContain("Interrupted before it came to an end.");
    expect(code).toBe(130);
  });
});

describe("output", () => {
  it("has no escape codes in a pipe, in CI neither", async () => {
    const { stdout, stderr } = await runCommand([...small, "--control"], { env: { CI: "true", NO_COLOR: "", FORCE_COLOR: "" } });
    expect(stdout + stderr).not.toContain(escapeCharacter);
  });

  it("has them where FORCE_COLOR asks, but not with NO_COLOR", async () => {
    const coloured = await runCommand(small, { env: { NO_COLOR: "", FORCE_COLOR: "1" } });
    expect(coloured.stdout).toContain(escapeCharacter);
    const plain = await runCommand(small, { env: { NO_COLOR: "1", FORCE_COLOR: "1" } });
    expect(plain.stdout + plain.stderr).not.toContain(escapeCharacter);
  });

  it("ends quietly when its reader goes", async () => {
    // The reader is gone before anything of the end is written: a command that ends by itself may have written all of it.
    const goAndInterrupt: CommandOptions["when"] = [
      "Preemptive 0%",
      (child) => {
        child.stdout.destroy();
        child.kill("SIGINT");
      },
    ];
    const { code, stderr } = await runCommand(endless, { when: goAndInterrupt });
    expect(stderr).not.toMatch(/Error|EPIPE|\bat /);
    expect(code).toBe(141);
  });
});
