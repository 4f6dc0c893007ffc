import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildNativeTarget, findCommand } from "../../src/peers/native-programs.js";
import { repositoryRoot } from "../repository-root.js";

/** Says whether a lock is held while it runs. */
const look = (lock: string): string => `flock --nonblock ${lock} true && echo free || echo held`;

describe.skipIf(findCommand("flock") === undefined)("what builds in the clone holds the lock of build/release", () => {
  const { PATH = "" } = process.env;
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "dfccl-lock-"));
  });
  afterEach(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });

  it("the set-up", async () => {
    const root = repositoryRoot;
    const { locked } = await import(pathToFileURL(join(root, "scripts", "lib", "locked.mjs")).href);
    const lock = join(root, "build", "release.lock");
    const [program, ...args] = locked(["sh", "-c", look(lock)], "release");
    expect(await promisify(execFile)(program, args)).toMatchObject({ stdout: "held\n" });
    for (const script of ["setup", "bench", "checks/ctest", "lifecycle-asan"]) {
      expect(readFileSync(join(root, "scripts", `${script}.mjs`), "utf8")).toMatch(/run\(locked\(command, /);
    }
  });

  it("`dfccl perf` and its like", async () => {
    const lock = join(folder, "build", "release.lock");
    const cmake = join(folder, "cmake");
    mkdirSync(join(folder, "native"));
    writeFileSync(cmake, `#!/bin/sh\n(${look(lock)}) >> ${join(folder, "seen")}\n`);
    chmodSync(cmake, 0o755);
    process.env.PATH = `${folder}${delimiter}${PATH}`;
    await buildNativeTarget(folder, "bench");
    expect(readFileSync(join(folder, "seen"), "utf8")).toBe("held\nheld\n"); // configuring, building
  });
});
