import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findCommand } from "../../src/peers/native-programs.js";
import { repositoryRoot } from "../repository-root.js";

type Reading = { readonly entries: readonly string[]; readonly obstacle?: string };
interface WorkingTree {
  readWorkingTree(folder: string): Promise<Reading>;
  entriesSince(before: Reading, after: Reading): string[];
}

const { readWorkingTree, entriesSince } = (await import(
  pathToFileURL(join(repositoryRoot, "scripts/lib/working-tree.mjs")).href
)) as WorkingTree;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dfccl-tree-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args: string[]): void => {
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder });
};

it.skipIf(findCommand("git") === undefined)(
  "a file that a test leaves is found, and one that git ignores or that was there is not",
  async () => {
    git("init", "-q");
    writeFileSync(join(folder, ".gitignore"), "build/\n");
    writeFileSync(join(folder, "source"), "1");
    git("add", ".");
    git("commit", "-qm", "all");
    writeFileSync(join(folder, "mine"), "");
    const before = await readWorkingTree(folder);
    mkdirSync(join(folder, "build"));
    writeFileSync(join(folder, "build", "log"), "");
    expect(entriesSince(before, await readWorkingTree(folder))).toEqual([]);
    writeFileSync(join(folder, "5"), "{}");
    writeFileSync(join(folder, "source"), "2");
    expect(entriesSince(before, await readWorkingTree(folder))).toEqual([" M source", "?? 5"]);
  },
);

it("what is no checkout of its own says so", async () => {
  expect((await readWorkingTree(folder)).obstacle).toContain("not a git checkout");
  if (findCommand("git") === undefined) return;
  git("init", "-q");
  mkdirSync(join(folder, "unpacked"));
  expect((await readWorkingTree(join(folder, "unpacked"))).obstacle).toContain("but within that of");
});
