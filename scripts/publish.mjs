// `npm run release`, after the set-up: publishes what isn't in the registry yet. The release's workflow runs it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildArm64, whyNoArm64 } from "./lib/arm64.mjs";
import { giveUp, line } from "./lib/console.mjs";
import { root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";
import { publicPackages, publishablePackages } from "./pack-all.mjs";

/**
 * Leaves out, for as long as it takes, packages whose engine isn't built here: they would be published without one.
 * @param args - of `changeset publish`; options - of the command that runs it, such as `env`.
 * @returns {output}: what it printed, {leftOut}: the folders that were left out.
 * @throws {Error} with what it printed, where it failed.
 */
export async function publish(args = [], workspace = root, options = {}) {
  const built = new Set(publishablePackages(workspace).map(({ name }) => name));
  const leftOut = publicPackages(workspace).filter(({ name }) => !built.has(name));
  const before = leftOut.map(({ folder }) => {
    const file = join(workspace, folder, "package.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(text), private: true }));
    return { file, text };
  });
  try {
    const { code, output } = await run(["changeset", "publish", ...args], {
      cwd: workspace,
      log: "publish",
      timeoutMs: 600_000,
      ...options,
    });
    if (code !== 0) throw new Error(`changeset publish ended with ${code}\n${output}`);
    return { output, leftOut: leftOut.map(({ folder }) => folder) };
  } finally {
    for (const { file, text } of before) writeFileSync(file, text);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    // What an older test has left there would be published; a workflow has put its own into place, and no cross compiler.
    if (whyNoArm64() === undefined) await buildArm64();
    const { output, leftOut } = await publish(process.argv.slice(2));
    // Whoever runs this in a workflow reads the new tags from here.
    line(output);
    for (const folder of leftOut) line(`Left out, as its engine isn't built here: ${folder}`);
  } catch (error) {
    giveUp(error.message);
  }
}
