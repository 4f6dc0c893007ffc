// One concept a file: sources and tests of at most 300 lines. By hand: node scripts/checks/file-length.mjs
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../lib/paths.mjs";

const most = 300;
const left = new Set(["node_modules", "dist", "build", "__pycache__"]);
const isSource = (name) => name === "CMakeLists.txt" || /\.(?:ts|mts|mjs|cjs|js|c|h|cpp|hpp|cu|cuh|py|sh|cmake)$/.test(name);

/** Files that may be longer, each with its reason. One that no longer is, or no longer exists, is named too. */
const exceptions = {};

/** @returns a check for each file under `folder`; those that are too long are named with their lengths. */
export function fileLengths({ folder = root, longer = exceptions } = {}) {
  const lengths = new Map([...sourcesUnder(folder)].map((path) => [relative(folder, path), linesOf(path)]));
  const faults = [...lengths]
    .filter(([path, lines]) => lines > most && !(path in longer))
    .map(([path, lines]) => `${path} has ${lines} lines, more than ${most}: split it by concept`);
  const needless = Object.keys(longer)
    .filter((path) => (lengths.get(path) ?? 0) <= most)
    .map((path) => `${path} is no exception any more: take it out of scripts/checks/file-length.mjs`);
  const failed = faults.length + needless.length;
  return { passed: lengths.size - faults.length, failed, details: [...faults, ...needless].join("\n") };
}

function* sourcesUnder(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !left.has(entry.name) && !(entry.name.startsWith(".") && entry.name !== ".github"))
      yield* sourcesUnder(path);
    else if (entry.isFile() && isSource(entry.name)) yield path;
  }
}

/** As `wc -l` counts, and a last line without an end besides. */
const linesOf = (path) => readFileSync(path, "utf8").replace(/\n$/, "").split("\n").length;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details, ...counts } = fileLengths();
  process.stdout.write(`${[details, JSON.stringify(counts)].filter(Boolean).join("\n")}\n`);
  process.exit(counts.failed ? 1 : 0);
}
