import { describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

describe("dfccl doctor", () => {
  it("finds that collectives run here", async () => {
    const { code, stdout } = await runCommand(["doctor"]);
    expect(stdout).toMatch(/✓ engine \(CPU\)\s+an all-reduce on 2 ranks is right/);
    expect(stdout).toContain("Collectives run here.");
    expect(code).toBe(0);
  });

  it("prints the same as JSON", async () => {
    const { stdout } = await runCommand(["doctor", "--json"]);
    const { works, findings } = JSON.parse(stdout);
    expect(works).toBe(true);
    expect(findings).toContainEqual(expect.objectContaining({ what: "Node.js", state: "ok", detail: process.versions.node }));
  });

  it("says how to get the engine where it can't be loaded, and exits with 1", async () => {
    const { code, stdout } = await runCommand(["doctor"], { env: { DFCCL_ADDON: "/nowhere/dfccl.node" } });
    expect(stdout).toMatch(/✗ engine \(CPU\)/);
    expect(stdout).toContain("Correct DFCCL_ADDON, or unset it.");
    expect(code).toBe(1);
  });

  it("says what of the GPU there is, or why there is none, and which backend follows from it", async () => {
    const { stdout } = await runCommand(["doctor"]);
    expect(stdout).toMatch(/engine \(GPU\)\s.*backend "auto"/);
  });

  it("says how to get a tool that is missing", async () => {
    const { stdout } = await runCommand(["doctor"], { env: { PATH: "/nowhere" } });
    expect(stdout).toMatch(/– OpenMPI\s+.*\n\s+→ apt-get install openmpi-bin libopenmpi-dev/);
  });
});
