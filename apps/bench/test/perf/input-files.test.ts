import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type InputFiles, inheritedFiles, namedFiles } from "../../src/perf/input-files.js";

let folder: string;
const { TMPDIR } = process.env;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dfccl-input-files-"));
  process.env.TMPDIR = folder;
});
afterEach(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  rmSync(folder, { recursive: true });
});

function read(files: InputFiles, paths: readonly string[]): string {
  return execFileSync("cat", paths, { stdio: ["ignore", "pipe", "inherit", ...files.descriptors], encoding: "utf8" });
}

it("hands files on that have no name, from their beginning", () => {
  using files = inheritedFiles();
  const paths = ["first", "second"].map((text) => files.add("cases", (to) => writeFileSync(to, text)));
  expect(readdirSync(folder)).toEqual([]);
  expect(read(files, paths)).toBe("firstsecond");
});

it("removes those with names in the end", () => {
  {
    using files = namedFiles();
    const path = files.add("cases", (to) => writeFileSync(to, "named"));
    expect(read(files, [path])).toBe("named");
    expect(readdirSync(folder)).toHaveLength(1);
  }
  expect(readdirSync(folder)).toEqual([]);
});
