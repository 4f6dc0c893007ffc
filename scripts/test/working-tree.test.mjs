// Whatever a test leaves beside the sources is seen, also where git ignores it.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../lib/paths.mjs";
import { entriesSince, readWorkingTree } from "../lib/working-tree.mjs";

it.each([
  ["a new file", "packages/queues/test/left.txt", "?? packages/queues/test/left.txt"],
  ["a cache of a package's own", "packages/queues/.cache/layout-dump", "!! packages/queues/.cache/"],
  ["a build of a package's own", "packages/scheduler/build/replay", "!! packages/scheduler/build/"],
  ["what Python leaves", "python/dfccl-torch/tests/__pycache__/test.pyc", "!! python/dfccl-torch/tests/__pycache__/"],
  ["an engine where none belongs", "packages/core/dfccl.node", "!! packages/core/dfccl.node"],
  ["what the build makes", "packages/queues/dist/index.js", undefined],
  ["an engine in its package", "packages/native-linux-x64-gnu/dfccl.node", undefined],
  ["the clone's own cache", ".cache/logs/style.log", undefined],
  ["a tool's cache among the modules", "packages/queues/node_modules/.vite/results.json", undefined],
])("%s", async (_, file, entry) => {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-tree-"));
  try {
    const write = (name, text) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    };
    execFileSync("git", ["init", "--quiet"], { cwd: folder });
    copyFileSync(join(root, ".gitignore"), join(folder, ".gitignore"));
    // Git names a folder as a whole where it knows nothing in it.
    for (const known of [
      "packages/queues/test",
      "packages/scheduler",
      "packages/core",
      "packages/native-linux-x64-gnu",
      "python/dfccl-torch/tests",
    ])
      write(join(known, "known.txt"), "");
    execFileSync("git", ["add", "--all"], { cwd: folder });
    const before = await readWorkingTree(folder);
    write(file, "left");
    expect(entriesSince(before, await readWorkingTree(folder))).toEqual(entry === undefined ? [] : [entry]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
