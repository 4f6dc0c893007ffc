// Checks that are one command each: it ends with 0 or it doesn't.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { printedArrows } from "../arrows.mjs";
import { onPath } from "../lib/machine.mjs";
import { root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";
import { fileLengths } from "./file-length.mjs";

const minutes = (count) => count * 60_000;

async function passes(command, log, timeoutMs = minutes(4)) {
  const { code, output } = await run(command, { log, timeoutMs, env: { NO_COLOR: "1" } });
  return code === 0 ? { passed: 1 } : { failed: 1, details: output };
}

export async function style() {
  const biome = await passes(["biome", "ci", "--colors=off", "--reporter=summary", "."], "style");
  const lengths = fileLengths();
  return {
    passed: (biome.passed ?? 0) + lengths.passed,
    failed: (biome.failed ?? 0) + lengths.failed,
    details: [biome.details, lengths.details].filter(Boolean).join("\n"),
  };
}
/** One program of all packages: TypeScript reads what they have in common once, and not eleven times. */
export const types = () => passes(["tsc", "-p", "tsconfig.all.json"], "types", minutes(8));
export const unusedExports = () => passes(["knip", "--no-progress", "--no-config-hints"], "unused-exports");

export async function arrows() {
  const printed = readFileSync(join(root, "CONTRIBUTING.md"), "utf8").includes(printedArrows());
  if (!printed)
    return {
      failed: 1,
      details: "CONTRIBUTING.md prints other arrows than scripts/arrows.mjs has: copy the output of `node scripts/arrows.mjs`",
    };
  const folders = ["packages", "apps", "examples"].filter((folder) => existsSync(join(root, folder)));
  return passes(["depcruise", "--config", ".dependency-cruiser.mjs", "--output-type", "err-long", ...folders], "arrows");
}

export function cppFormat() {
  if (!onPath("clang-format-14")) return { skipped: 1, details: "clang-format-14 is missing: apt-get install clang-format-14" };
  return passes(["clang-format-14", "--dry-run", "-Werror", ...cppSources()], "cpp-format");
}

/** Every C, C++ and CUDA file of the project. */
export const cppSources = () => ["native", "cuda", "examples", "python"].flatMap(cppSourcesIn);

function cppSourcesIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : cppSourcesIn(path);
    return /\.(?:c|h|cpp|hpp|cu|cuh)$/.test(entry.name) ? [path] : [];
  });
}
