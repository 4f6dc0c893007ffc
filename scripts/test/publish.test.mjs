import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { publish } from "../publish.mjs";

let workspace = "";
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "dfccl-publish-"));
  for (const [name, main] of Object.entries({ "native-a-cuda": "./dfccl.node", core: undefined })) {
    mkdirSync(join(workspace, "packages", name), { recursive: true });
    writeFileSync(join(workspace, "packages", name, "package.json"), JSON.stringify({ name, main }, null, 2));
  }
});
afterEach(() => rmSync(workspace, { recursive: true }));

const manifest = (name) => readFileSync(join(workspace, "packages", name, "package.json"), "utf8");

/** Publishes with a stand-in for changesets, which is given as a shell script. */
function publishWith(script) {
  writeFileSync(join(workspace, "changeset"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(workspace, "changeset"), 0o755);
  return publish(["--no-git-tag"], workspace, { env: { PATH: `${workspace}:${process.env.PATH}` } });
}

it("leaves out a package whose engine isn't built, and puts its manifest back", async () => {
  const before = manifest("native-a-cuda");
  const { output, leftOut } = await publishWith("cat packages/*/package.json");
  expect(leftOut).toEqual(["packages/native-a-cuda"]);
  expect(output.match(/"private":true/g)).toHaveLength(1);
  expect(manifest("native-a-cuda")).toBe(before);
});

it("puts it back where publishing fails, and says what was printed", async () => {
  const before = manifest("native-a-cuda");
  await expect(publishWith("echo no access; exit 3")).rejects.toThrow("ended with 3\nno access");
  expect(manifest("native-a-cuda")).toBe(before);
});

it("leaves nothing out where everything is built", async () => {
  writeFileSync(join(workspace, "packages", "native-a-cuda", "dfccl.node"), "");
  const { output, leftOut } = await publishWith("cat packages/*/package.json");
  expect(leftOut).toEqual([]);
  expect(output).not.toContain("private");
});
