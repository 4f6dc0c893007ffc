// The Node versions that the published packages must run on. Each is a binary out of an npm package.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory } from "./paths.mjs";
import { run } from "./run.mjs";

const versions = ["22.23.3", "24.21.0", "26.10.0"];

/** @returns [{version, binary}], this process's Node first. Fetched once, then kept in .cache/nodes. */
export async function nodeBinaries() {
  const binaries = [{ version: process.versions.node, binary: process.execPath }];
  for (const version of versions) {
    const name = `node-linux-${process.arch}`;
    const folder = join(cacheDirectory, "nodes", version);
    const binary = join(folder, "node_modules", name, "bin", "node");
    if (!existsSync(binary)) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
      const { code, output } = await run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", `${name}@${version}`], {
        cwd: folder,
        log: "nodes",
        timeoutMs: 300_000,
      });
      if (code !== 0) throw new Error(`Node ${version} can't be fetched as ${name}@${version}:\n${output}`);
    }
    binaries.push({ version, binary });
  }
  return binaries;
}
