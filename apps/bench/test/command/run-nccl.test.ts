import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loaderVariables } from "../../src/nccl/loader-variables.js";
import { findRoot } from "../../src/peers/native-programs.js";
import { runCommand } from "./run-command.js";

describe("dfccl run-nccl", () => {
  let folder: string;
  let library: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "dfccl-run-nccl-"));
    library = join(folder, "libnccl.so.2");
    // Any library will do: what is looked at is that the loader has it in the program.
    copyFileSync(join(findRoot() ?? "", "build", "release", "libdfccl.so"), library);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const isMapped = (code: number) =>
    `process.exit(require("node:fs").readFileSync("/proc/self/maps", "utf8").includes(${JSON.stringify(library)}) ? ${code} : 1)`;

  it("starts a program that has the library, and ends with its code", async () => {
    const { code, stderr } = await runCommand(["run-nccl", "--library", library, process.execPath, "-e", isMapped(7)]);
    expect(stderr).toBe("");
    expect(code).toBe(7);
  });

  it("takes the library that the environment names, and leaves others that are preloaded", async () => {
    const print = "console.log(process.env.LD_PRELOAD)";
    const env = { DFCCL_NCCL_LIBRARY: library, LD_PRELOAD: "libm.so.6" };
    const { code, stdout } = await runCommand(["run-nccl", "--", process.execPath, "-e", print], { env });
    expect(stdout.trim()).toBe(`${library}:libm.so.6`);
    expect(code).toBe(0);
  });

  it("takes the library beside the engine that the environment names, before the clone's", async () => {
    const beside = join(folder, "nccl", "libnccl.so.2");
    mkdirSync(join(folder, "nccl"));
    copyFileSync(library, beside);
    const env = { DFCCL_ADDON: join(folder, "dfccl.node") };
    const { stdout } = await runCommand(["run-nccl", "printenv", "LD_PRELOAD"], { env });
    expect(stdout.trim()).toBe(beside);
  });

  it("lets the loader be audited where the library has what that takes beside it, and as the environment says", async () => {
    const audited = join(folder, "audited");
    const beside = join(audited, "libnccl.so.2");
    const audit = join(audited, "libdfccl_nccl_audit.so");
    mkdirSync(audited);
    for (const file of [beside, audit]) copyFileSync(library, file);
    const before = { LD_AUDIT: "other.so", LD_PRELOAD: "libm.so.6" };
    const byAudit = { LD_AUDIT: `${audit}:other.so`, DFCCL_NCCL_LIBRARY: beside };
    const byPreload = { LD_PRELOAD: `${beside}:libm.so.6` };
    expect(loaderVariables(beside, before, "2.35")).toEqual(byAudit);
    expect(loaderVariables(beside, before, "2.34")).toEqual(byPreload);
    expect(loaderVariables(beside, { ...before, DFCCL_NCCL_LOADER: "preload" }, "2.36")).toEqual(byPreload);
    expect(loaderVariables(beside, { ...before, DFCCL_NCCL_LOADER: "audit" }, "2.28")).toEqual(byAudit);
    expect(loaderVariables(library, {}, "2.36")).toEqual({ LD_PRELOAD: library });
    const refused = await runCommand(["run-nccl", "--library", library, "true"], { env: { DFCCL_NCCL_LOADER: "audit" } });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`there is no ${join(folder, "libdfccl_nccl_audit.so")}`);
    expect(() => loaderVariables(library, { DFCCL_NCCL_LOADER: "sorcery" })).toThrow("DFCCL_NCCL_LOADER is sorcery");
  });

  it("ends with 128 and the number of the signal that ended the program", async () => {
    const { code } = await runCommand(["run-nccl", "--library", library, "sh", "-c", "kill -TERM $$"]);
    expect(code).toBe(143);
  });

  it("refuses a path that the loader would take for several", async () => {
    const spaced = join(folder, "lib nccl.so.2");
    copyFileSync(library, spaced);
    const { code, stderr } = await runCommand(["run-nccl", "--library", spaced, "true"]);
    expect(code).toBe(1);
    expect(stderr).toContain("has a space or a colon in it");
  });

  it("says what is missing: the library, or the program", async () => {
    const nowhere = await runCommand(["run-nccl", "--library", join(folder, "none.so"), "true"]);
    expect(nowhere.code).toBe(1);
    expect(nowhere.stderr).toContain("--target dfccl_nccl");
    const noProgram = await runCommand(["run-nccl", "--library", library, "no-such-program-of-anybody"]);
    expect(noProgram.code).toBe(1);
    expect(noProgram.stderr).toContain("can't be started");
    const tooLong = await runCommand(["run-nccl", "--library", library, "x".repeat(5000)]);
    expect(tooLong.code).toBe(1);
    expect(tooLong.stderr).toContain("can't be started: that is too long");
  });
});
