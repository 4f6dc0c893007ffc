import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { commitSubjects } from "../checks/commit-subjects.mjs";
import { onPath } from "../lib/machine.mjs";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dfccl-commits-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, encoding: "utf8" }).trim();
const commit = (subject) => git("commit", "-q", "--allow-empty", "-m", subject, "-m", "A body ".repeat(20));

it.skipIf(!onPath("git"))("names each subject of more than 72 characters since the base, and none before it", async () => {
  git("init", "-q");
  commit("a".repeat(90));
  const since = git("rev-parse", "HEAD");
  expect(await commitSubjects({ folder, since })).toMatchObject({ passed: 1, failed: 0 });
  commit("é".repeat(72));
  commit("b".repeat(73));
  const { passed, failed, details } = await commitSubjects({ folder, since });
  expect([passed, failed]).toEqual([1, 1]);
  expect(details).toContain("b".repeat(73));
});

it("is skipped, and counted so, where there is no history", async () => {
  expect(await commitSubjects({ folder })).toMatchObject({ skipped: 1, details: expect.stringContaining("no history") });
});
