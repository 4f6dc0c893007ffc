// The Node versions that the published packages must run on. Each is a binary out of an npm package.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory } from "./paths.mjs";
import { run } from "./run.mjs";

const versions = ["22.23.3", "24.21.0", "26.10.0"];

/** @returns [{version, binary}], this process's Node first. */
export async function nodeBinaries() {
  const binaries = [{ version: process.versions.node, binary: process.execPath }];
  for (const version of versions) binaries.push({ version, binary: await nodeBinary(version, process.arch) });
  return binaries;
}

/** A Node for another processor, which an emulator can run. */
export const nodeFor = (arch) => nodeBinary(versions[0], arch);

/** Fetched once, then kept in .cache/nodes. */
async function nodeBinary(version, arch) {
  const name = `node-linux-${arch}`;
  const folder = join(cacheDirectory, "nodes", arch === process.arch ? version : `${version}-${arch}`);
  const binary = join(folder, "node_modules", name, "bin", "node");
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const { code, output } = await run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--force", `${name}@${version}`], {
    cwd: folder,
    log: "nodes",
    timeoutMs: 300_000,
  });
  if (code !== 0) throw new Error(`Node ${version} can't be fetched as ${name}@${version}:\n${output}`);
  return binary;
}
