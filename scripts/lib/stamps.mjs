// Remembers what has been built from which files, so that a second run with nothing changed does nothing.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { cacheDirectory, root } from "./paths.mjs";

const stampFile = join(cacheDirectory, "stamps.json");
const skipped = new Set(["node_modules", "dist", "build", ".turbo", ".cache", "coverage"]);

function* filesUnder(path) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) {
    yield path;
    return;
  }
  for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const inner = join(path, entry.name);
    if (!skipped.has(entry.name) && !/\.node$|[\\/]native-[^\\/]+[\\/]bin$/.test(inner)) yield* filesUnder(inner);
  }
}

/** A hash of the contents and names of files and folders, given from the root; what a build makes is left out. */
export function fingerprint(paths, extra = "") {
  const hash = createHash("sha256").update(`${process.version} ${process.arch} ${root} ${extra}\n`);
  for (const path of paths)
    for (const file of filesUnder(join(root, path)))
      hash
        .update(`${relative(root, file)}\n`)
        .update(readFileSync(file))
        .update("\n");
  return hash.digest("hex");
}

const read = () => {
  try {
    return JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return {};
  }
};

export const isFresh = (name, print) => read()[name] === print;

export function remember(name, print) {
  mkdirSync(cacheDirectory, { recursive: true });
  writeFileSync(stampFile, `${JSON.stringify({ ...read(), [name]: print }, null, 2)}\n`);
}
