import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DfcclError } from "@dfccl/primitives";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AddonNotLoadedError, loadAddon } from "../../src/native-addon/load-addon.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dfccl-load-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Loads only what it is given; everything else is missing as `require` says it. */
function loaderOf(present: Record<string, unknown>) {
  return (path: string): unknown => {
    if (path in present) return present[path];
    throw Object.assign(new Error(`Cannot find module '${path}'\nRequire stack: …`), { code: "MODULE_NOT_FOUND" });
  };
}

function build(): string {
  const path = join(folder, "build", "release", "dfccl.node");
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "");
  return path;
}

function failure(action: () => unknown): AddonNotLoadedError {
  try {
    action();
  } catch (error) {
    if (error instanceof AddonNotLoadedError) return error;
    throw error;
  }
  throw new Error("loading succeeded");
}

const platform = "linux-x64-gnu";

describe("loadAddon", () => {
  it("takes the file that DFCCL_ADDON names before anything else", () => {
    const load = loaderOf({ "/opt/dfccl.node": "named", "@dfccl/native-linux-x64-gnu": "packaged" });
    expect(loadAddon({ env: { DFCCL_ADDON: "/opt/dfccl.node" }, platform, from: folder, load })).toBe("named");
  });

  it("takes the package with the GPU engine before the CPU's, where it is installed", () => {
    const load = loaderOf({ "@dfccl/native-linux-x64-gnu-cuda": "both", "@dfccl/native-linux-x64-gnu": "packaged" });
    expect(loadAddon({ env: {}, platform, from: folder, load })).toBe("both");
  });

  it("takes the platform's package before a build in the workspace", () => {
    const load = loaderOf({ "@dfccl/native-linux-x64-gnu": "packaged", [build()]: "built" });
    expect(loadAddon({ env: {}, platform, from: folder, load })).toBe("packaged");
  });

  it("finds the workspace's build from a folder deep inside it", () => {
    const load = loaderOf({ [build()]: "built" });
    expect(loadAddon({ env: {}, platform, from: join(folder, "packages", "core", "dist"), load })).toBe("built");
  });

  it("lists every attempt in order and says how to install, where the platform has a package", () => {
    const error = failure(() => loadAddon({ env: {}, platform, from: folder, load: loaderOf({}) }));
    expect(error).toBeInstanceOf(DfcclError);
    expect(error.code).toBe("ADDON_NOT_LOADED");
    expect(error.facts.attempts).toEqual([
      { source: "platform package", location: "@dfccl/native-linux-x64-gnu-cuda", reason: "not installed" },
      { source: "platform package", location: "@dfccl/native-linux-x64-gnu", reason: "not installed" },
      { source: "workspace build", location: "build/release/dfccl.node", reason: `no folder above ${folder} has it` },
    ]);
    expect(error.remedy).toContain("npm install --include=optional @dfccl/core");
  });

  it("knows every platform that this package's optional dependencies name, and no other", () => {
    const { optionalDependencies } = createRequire(import.meta.url)("../../package.json") as { optionalDependencies: object };
    const named = Object.keys(optionalDependencies).map((name) => name.slice("@dfccl/native-".length));
    expect(named).toEqual(["linux-arm64-gnu", "linux-x64-gnu"]);
    for (const each of named) {
      const error = failure(() => loadAddon({ env: {}, platform: each, from: folder, load: loaderOf({}) }));
      expect(error.remedy).toContain("npm install --include=optional");
    }
    const error = failure(() => loadAddon({ env: {}, platform: "plan9-x64", from: folder, load: loaderOf({}) }));
    for (const each of named) expect(error.remedy).toContain(each);
  });

  it("says that a platform has no package and how to build, where it has none", () => {
    const error = failure(() => loadAddon({ env: {}, platform: "linux-arm64-musl", from: folder, load: loaderOf({}) }));
    expect(error.remedy).toContain("no prebuilt engine for linux-arm64-musl");
    expect(error.remedy).toContain("npm start");
    expect(error.message).toContain("@dfccl/native-linux-arm64-musl");
  });

  it("keeps to DFCCL_ADDON when that file is missing, although a package is installed", () => {
    const load = loaderOf({ "@dfccl/native-linux-x64-gnu": "packaged" });
    const error = failure(() => loadAddon({ env: { DFCCL_ADDON: "/nowhere/dfccl.node" }, platform, from: folder, load }));
    expect(error.facts.attempts).toEqual([{ source: "DFCCL_ADDON", location: "/nowhere/dfccl.node", reason: "no such file" }]);
    expect(error.remedy).toContain("DFCCL_ADDON");
  });

  it("passes on what the dynamic linker says about a file that is no addon, and keeps the cause", () => {
    const broken = join(folder, "broken.node");
    writeFileSync(broken, "not an ELF file");
    const error = failure(() => loadAddon({ env: { DFCCL_ADDON: broken }, platform, from: folder }));
    expect(error.facts.attempts).toMatchObject([
      { source: "DFCCL_ADDON", location: broken, reason: expect.stringContaining("broken.node") },
    ]);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it("names this platform by itself", () => {
    const error = failure(() => loadAddon({ env: {}, from: folder, load: loaderOf({}) }));
    expect(error.facts.platform).toMatch(new RegExp(`^${process.platform}-${process.arch}`));
  });
});
