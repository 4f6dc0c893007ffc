// The prebuilt addon and programs must load on glibc 2.28, and must bring their own libstdc++. See native/cmake/glibc_floor.cmake.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { onPath } from "../lib/machine.mjs";
import { buildDirectory } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";

const floor = [2, 28];

const shipped = ["dfccl.node", join("bench", "perf_bench")].map((file) => join(buildDirectory("release"), file));

/** @returns Passed with the newest version found, or failed with each symbol that is too new. */
export async function addonSymbols(files = shipped) {
  if (!onPath("objdump")) return { skipped: 1, details: "objdump is missing: apt-get install binutils" };
  const results = await Promise.all(files.map(symbolsOf));
  const details = results.flatMap((result, i) => (result.details ? [`${files[i]}: ${result.details}`] : []));
  if (details.length > 0) return { passed: files.length - details.length, failed: details.length, details: details.join("\n") };
  const newest = results
    .map((result) => result.newest)
    .sort(compare)
    .at(-1);
  return { passed: files.length, note: `they need glibc ${newest?.join(".")}` };
}

async function symbolsOf(file) {
  if (!existsSync(file)) return { details: "it hasn't been built" };
  const { code, output } = await run(["objdump", "-T", file], { timeoutMs: 60_000 });
  if (code !== 0) return { details: output };

  const needed = [...output.matchAll(/\*UND\*.*\((GLIBC|GLIBCXX|CXXABI)_([\d.]+)\)\s+(\S+)/g)].map(([, family, version, symbol]) => ({
    family,
    version: version.split(".").map(Number),
    symbol,
  }));
  const tooNew = needed.filter(({ family, version }) => family !== "GLIBC" || compare(version, floor) > 0);
  if (tooNew.length === 0) {
    return {
      newest: needed
        .map(({ version }) => version)
        .sort(compare)
        .at(-1),
    };
  }
  const list = tooNew.map(({ family, version, symbol }) => `${family}_${version.join(".")} ${symbol}`).join("\n");
  return { details: `newer than glibc ${floor.join(".")}:\n${list}\nAdd a WRAP or REPLACE line to native/cmake/glibc_floor.c.` };
}

const compare = ([a = 0, b = 0, c = 0], [x = 0, y = 0, z = 0]) => a - x || b - y || c - z;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const result = await addonSymbols(process.argv.length > 2 ? process.argv.slice(2) : undefined);
  process.stdout.write(`${result.details ?? result.note}\n`);
  process.exit(result.failed ? 1 : 0);
}
