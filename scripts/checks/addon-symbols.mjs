// The prebuilt addon must load on glibc 2.28, and must bring its own libstdc++. See native/cmake/glibc_floor.cmake.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { onPath } from "../lib/machine.mjs";
import { buildDirectory } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";

const floor = [2, 28];

/** @returns Passed with the newest version found, or failed with each symbol that is too new. */
export async function addonSymbols(addon = join(buildDirectory("release"), "dfccl.node")) {
  if (!existsSync(addon)) return { failed: 1, details: `${addon} hasn't been built` };
  if (!onPath("objdump")) return { skipped: 1, details: "objdump is missing: apt-get install binutils" };
  const { code, output } = await run(["objdump", "-T", addon], { timeoutMs: 60_000 });
  if (code !== 0) return { failed: 1, details: output };

  const needed = [...output.matchAll(/\*UND\*.*\((GLIBC|GLIBCXX|CXXABI)_([\d.]+)\)\s+(\S+)/g)].map(([, family, version, symbol]) => ({
    family,
    version: version.split(".").map(Number),
    symbol,
  }));
  const tooNew = needed.filter(({ family, version }) => family !== "GLIBC" || compare(version, floor) > 0);
  if (tooNew.length === 0) {
    const newest = needed
      .map(({ version }) => version)
      .sort(compare)
      .at(-1);
    return { passed: 1, note: `needs glibc ${newest?.join(".")}` };
  }
  const list = tooNew.map(({ family, version, symbol }) => `${family}_${version.join(".")} ${symbol}`).join("\n");
  return { failed: 1, details: `newer than glibc ${floor.join(".")}:\n${list}\nAdd a WRAP or REPLACE line to native/cmake/glibc_floor.c.` };
}

const compare = ([a = 0, b = 0, c = 0], [x = 0, y = 0, z = 0]) => a - x || b - y || c - z;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const result = await addonSymbols(process.argv[2]);
  process.stdout.write(`${result.details ?? result.note}\n`);
  process.exit(result.failed ? 1 : 0);
}
