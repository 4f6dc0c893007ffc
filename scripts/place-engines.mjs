// Puts engines that were built elsewhere into the packages that carry them. `node scripts/place-engines.mjs FOLDER`, where
// FOLDER/linux-x64-gnu/dfccl.node goes into packages/native-linux-x64-gnu, and so on. The release's workflow uses it.
import { copyFileSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { giveUp, step } from "./lib/console.mjs";
import { root } from "./lib/paths.mjs";

/**
 * @param folder - has a folder for each platform.
 * @returns what happened to each, in words.
 * @throws {Error} naming a package of the CPU's engine for which there is none: it would be published empty, or with another platform's.
 */
export function placeEngines(folder, workspace = root) {
  const platforms = readdirSync(folder).sort();
  const packages = readdirSync(join(workspace, "packages")).filter((name) => name.startsWith("native-") && !name.endsWith("-cuda"));
  const missing = packages.filter((name) => !existsSync(join(folder, name.slice("native-".length), "dfccl.node")));
  if (missing.length > 0) throw new Error(`There is no engine for packages/${missing.join(", packages/")} in ${folder}.`);
  return platforms.map((platform) => {
    const target = join(workspace, "packages", `native-${platform}`);
    if (!existsSync(target)) return { platform, outcome: "no package carries it yet" };
    copyFileSync(join(folder, platform, "dfccl.node"), join(target, "dfccl.node"));
    return { platform, outcome: `packages/native-${platform}` };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) giveUp("usage: node scripts/place-engines.mjs FOLDER");
  try {
    for (const { platform, outcome } of placeEngines(folder)) step(platform, outcome);
  } catch (error) {
    giveUp(error.message);
  }
}
