import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findNativeProgram } from "../../src/native-addon/find-native-program.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dfccl-find-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(...path: string[]): string {
  const whole = join(folder, ...path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, "");
  return whole;
}

/** Finds what was made below `folder`; everything else is missing, as `require.resolve` says it. */
function find(path: string): string {
  const [, name = ""] = /^@dfccl\/(.+)\/package\.json$/.exec(path) ?? [];
  if (!installed.has(name)) throw Object.assign(new Error(`Cannot find module '${path}'`), { code: "MODULE_NOT_FOUND" });
  return join(folder, name, "package.json");
}
let installed: ReadonlySet<string>;
const platform = "linux-x64-gnu";

describe("findNativeProgram", () => {
  beforeEach(() => {
    installed = new Set(["native-linux-x64-gnu", "native-linux-x64-gnu-cuda"]);
  });

  it("takes what lies in the package of this platform", () => {
    const path = file("native-linux-x64-gnu", "bin", "perf_bench");
    expect(findNativeProgram("perf_bench", { env: {}, platform, find })).toBe(path);
  });

  it("prefers the package with the GPU engine where that has it", () => {
    file("native-linux-x64-gnu", "bin", "perf_bench");
    const path = file("native-linux-x64-gnu-cuda", "bin", "perf_bench");
    expect(findNativeProgram("perf_bench", { env: {}, platform, find })).toBe(path);
  });

  it("takes what was built with the addon that DFCCL_ADDON names before all else", () => {
    file("native-linux-x64-gnu", "bin", "perf_bench");
    const path = file("build", "release", "bench", "perf_bench");
    const env = { DFCCL_ADDON: join(folder, "build", "release", "dfccl.node") };
    expect(findNativeProgram("perf_bench", { env, platform, find })).toBe(path);
  });

  it("finds nothing where no package is installed, and nothing in one without the program", () => {
    expect(findNativeProgram("perf_bench", { env: {}, platform, find })).toBeUndefined();
    installed = new Set();
    file("native-linux-x64-gnu", "bin", "perf_bench");
    expect(findNativeProgram("perf_bench", { env: {}, platform, find })).toBeUndefined();
  });
});
