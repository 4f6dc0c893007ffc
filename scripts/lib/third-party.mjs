// Third-party packages that ours need at run time, out of this workspace's node_modules, so that a registry without a way
// to the outside can serve them.
import { cpSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./paths.mjs";

/** @returns [{name, version, folder}] of everything that the given workspace packages depend on, directly or not. */
export function thirdPartyPackages(packages) {
  const own = new Set(packages.map(({ name }) => name));
  const found = new Map();
  const visit = (manifest, siblings) => {
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (own.has(name)) continue;
      const folder = realpathSync(join(siblings, name));
      if (found.has(folder)) continue;
      const dependency = readManifest(folder);
      found.set(folder, { name, version: dependency.version, folder });
      // pnpm lays a package's dependencies beside it: …/NAME@VERSION/node_modules/{NAME,dependency}.
      visit(dependency, name.startsWith("@") ? dirname(dirname(folder)) : dirname(folder));
    }
  };
  for (const { folder, manifest } of packages) visit(manifest, join(root, folder, "node_modules"));
  return [...found.values()];
}

/** Copies a package without what would run or lead elsewhere when it is published: scripts and publishConfig. */
export function copyForPublishing({ folder }, target) {
  cpSync(folder, target, { recursive: true, filter: (path) => !path.slice(folder.length).includes("node_modules") });
  const { scripts: _scripts, publishConfig: _publishConfig, ...manifest } = readManifest(folder);
  writeFileSync(join(target, "package.json"), JSON.stringify(manifest));
}

const readManifest = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
