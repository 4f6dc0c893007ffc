import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { buildNativeTarget } from "../../src/peers/native-programs.js";

const root = mkdtempSync(join(tmpdir(), "dfccl-builds-"));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

it("builds one after the other where two commands are started at once", async () => {
  for (const folder of ["bin", "native"]) mkdirSync(join(root, folder));
  const cmake = join(root, "bin", "cmake");
  // Fails where another one is under way.
  writeFileSync(cmake, `#!/bin/sh\nmkdir ${root}/busy || exit 1\necho "$@" >> ${root}/calls\nsleep 0.1\nrmdir ${root}/busy\n`);
  chmodSync(cmake, 0o755);
  vi.stubEnv("PATH", `${join(root, "bin")}:${process.env.PATH}`);
  const folders = await Promise.all(["perf", "bench", "perf"].map((target) => buildNativeTarget(root, target)));
  expect(new Set(folders)).toEqual(new Set([join(root, "build", "release", "bench")]));
  expect(readFileSync(join(root, "calls"), "utf8").trimEnd().split("\n")).toHaveLength(6);
});
