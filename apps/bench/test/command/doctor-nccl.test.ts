import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

describe("dfccl doctor -- PROGRAM", () => {
  let folder: string;
  const library = (name: string) => join(folder, name, "libnccl.so.2");
  const compile = (...args: string[]) => execFileSync(process.env.CXX ?? "g++", ["-x", "c", ...args], { timeout: 120_000 });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "dfccl-doctor-test-"));
    const ours = join(folder, "ours.c");
    const theirs = join(folder, "theirs.c");
    writeFileSync(ours, 'const char* dfccl_says = "DFCCL_JOIN_TIMEOUT"; int ncclGetVersion(int* v) { return *v = 0; }');
    writeFileSync(theirs, "int ncclGetVersion(int* v) { return *v = 0; } int ncclGroupStart(void) { return 0; }");
    // Under another name within, the loader takes it for another library, and loads both.
    for (const [name, source, soname] of [
      ["ours", ours, "libnccl.so.2"],
      ["beside", ours, "libnccl.so"],
      ["theirs", theirs, "libnccl.so.2"],
    ] as const) {
      mkdirSync(join(folder, name));
      compile("-shared", "-fPIC", `-Wl,-soname,${soname}`, source, "-o", library(name));
    }
    const caller = join(folder, "caller.c");
    writeFileSync(
      caller,
      "int ncclGetVersion(int*); int ncclGroupStart(void); int main() { int v; return ncclGetVersion(&v) + ncclGroupStart() + 3; }",
    );
    compile(caller, "-x", "none", library("theirs"), `-Wl,-rpath,${join(folder, "theirs")}`, "-Wl,-z,now", "-o", join(folder, "caller"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("says which libnccl a process that the program starts has loaded, whose it is and who calls it, and ends with its code", async () => {
    const { code, stdout } = await runCommand(["doctor", "--", "sh", "-c", join(folder, "caller; exit $?")]);
    expect(code).toBe(3);
    expect(stdout).toContain(`caller has ${library("theirs")}, which is not dfccl's: 2 functions called by caller`);
    expect(stdout).not.toContain("sh has");
  });

  it("finds functions of one library called beside another's", async () => {
    const { code, stdout } = await runCommand(["doctor", "--json", "env", `LD_PRELOAD=${library("beside")}`, join(folder, "caller")]);
    const report = JSON.parse(stdout) as { code: number; findings: { state: string; detail: string; remedy?: string }[] };
    expect([code, report.code]).toEqual([3, 3]);
    const [found] = report.findings;
    expect(found?.state).toBe("failed");
    expect(found?.detail).toContain(`${library("beside")}, which is dfccl's: 1 functions called by caller`);
    expect(found?.detail).toContain(`${library("theirs")}, which is not dfccl's: 1 functions called by caller`);
    expect(found?.remedy).toContain("two libraries are called");
  });

  it("names a function that the library lacks", async () => {
    const { code, stdout } = await runCommand(["doctor", "env", `LD_PRELOAD=${library("ours")}`, join(folder, "caller")]);
    expect(code).toBe(127);
    expect(stdout).toContain("found nowhere: ncclGroupStart");
    expect(stdout).toContain("dfccl run-nccl");
  });

  it("says that there is none, and what can't be started", async () => {
    const none = await runCommand(["doctor", "true"]);
    expect(none.code).toBe(0);
    expect(none.stdout).toContain("no process has loaded a libnccl");
    expect(none.stdout).toContain("→ give doctor what is to call NCCL");
    const noProgram = await runCommand(["doctor", "no-such-program-of-anybody"]);
    expect(noProgram.code).toBe(1);
    expect(noProgram.stderr).toContain("can't be started");
    const tooLong = await runCommand(["doctor", "x".repeat(5000)]);
    expect(tooLong.code).toBe(1);
    expect(tooLong.stderr).toContain("can't be started: that is too long");
  });
});
