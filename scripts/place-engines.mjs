// Puts engines that were built elsewhere into the packages that carry them. `node scripts/place-engines.mjs FOLDER`, where
// FOLDER/linux-x64-gnu/dfccl.node goes into packages/native-linux-x64-gnu, bench/perf_bench beside it into its bin, and so on. The
// release's workflow uses it.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { giveUp, step } from "./lib/console.mjs";
import { root } from "./lib/paths.mjs";

/** As they lie in a build, and in a package. */
const files = [
  { from: "dfccl.node", to: "dfccl.node" },
  { from: "bench/perf_bench", to: "bin/perf_bench" },
];

/**
 * @param folder - has a folder for each platform.
 * @returns what happened to each, in words.
 * @throws {Error} naming a package of the CPU's engine for which there is none: it would be published empty, or with another platform's.
 */
export function placeEngines(folder, workspace = root) {
  const platforms = readdirSync(folder).sort();
  const packages = readdirSync(join(workspace, "packages")).filter((name) => name.startsWith("native-") && !name.endsWith("-cuda"));
  const missing = packages.filter((name) => files.some(({ from }) => !existsSync(join(folder, name.slice("native-".length), from))));
  if (missing.length > 0)
    throw new Error(`There is no engine, or not all of it, for packages/${missing.join(", packages/")} in ${folder}.`);
  return platforms.map((platform) => {
    const target = join(workspace, "packages", `native-${platform}`);
    if (!existsSync(target)) return { platform, outcome: "no package carries it yet" };
    for (const { from, to } of files) {
      mkdirSync(dirname(join(target, to)), { recursive: true });
      copyFileSync(join(folder, platform, from), join(target, to));
      chmodSync(join(target, to), 0o755); // what carries files between jobs forgets it
    }
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
