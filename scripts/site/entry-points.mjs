// What can be imported from the packages that are published, and which source that is.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @returns {name, source}: "@dfccl/scheduler/tuner" is packages/scheduler/src/tuner/index.ts. */
export function entryPoints(root) {
  const folders = ["packages", "apps"].flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`));
  return folders.flatMap((folder) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    return Object.entries(exports).flatMap(([subpath, target]) => {
      if (subpath.startsWith("./internal/")) return [];
      const types = /^\.\/dist\/(.+)\.d\.ts$/.exec(target?.types)?.[1];
      return types ? [{ name: name + subpath.slice(1), source: sourceOf(root, `${folder}/src/${types}`) }] : [];
    });
  });
}

function sourceOf(root, path) {
  const found = [`${path}.ts`, `${path}/index.ts`].find((file) => existsSync(join(root, file)));
  if (!found) throw new Error(`${path}.ts isn't there, nor ${path}/index.ts`);
  return found;
}
