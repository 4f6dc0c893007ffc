import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { makeFolder } from "../../src/index.js";

const base = mkdtempSync(join(tmpdir(), "dfccl-folder-"));
afterAll(() => rmSync(base, { recursive: true }));

it("makes a folder and those above it, and takes one that is there", () => {
  for (let time = 0; time < 2; time += 1) makeFolder(join(base, "a", "b", "c"));
  expect(existsSync(join(base, "a", "b", "c"))).toBe(true);
});

it("throws where a file is in the way, and where the system takes no folder", () => {
  writeFileSync(join(base, "file"), "");
  expect(() => makeFolder(join(base, "file"))).toThrow("EEXIST");
  expect(() => makeFolder(join(base, "file", "below"))).toThrow("EEXIST");
  expect(() => makeFolder("/proc/nothing/here")).toThrow("ENOENT");
});
