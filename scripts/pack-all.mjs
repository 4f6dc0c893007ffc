// Packs every publishable package as it would be published. `node scripts/pack-all.mjs [FOLDER]`
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { giveUp, step } from "./lib/console.mjs";
import { root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

/** Everything in packages/ and apps/ that isn't private. */
export function publicPackages(workspace = root) {
  return ["packages", "apps"]
    .flatMap((parent) =>
      existsSync(join(workspace, parent)) ? readdirSync(join(workspace, parent)).map((name) => join(parent, name)) : [],
    )
    .filter((folder) => existsSync(join(workspace, folder, "package.json")))
    .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(workspace, folder, "package.json"), "utf8")) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest }) => ({ folder, manifest, name: manifest.name, isNative: manifest.main?.endsWith(".node") === true }));
}

const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "glibc";

/** Whether npm would install it on this machine. */
export const fitsHere = ({ manifest }) =>
  (manifest.libc ?? [libc]).includes(libc) &&
  (manifest.os ?? [process.platform]).includes(process.platform) &&
  (manifest.cpu ?? [process.arch]).includes(process.arch);

/**
 * Packages that get published: the public ones, and of the engines this machine's and what else has been built or put in place: the
 * one with GPUs in it (target dfccl_cuda_product, which needs nvcc and minutes), and other platforms'.
 */
export function publishablePackages(workspace = root) {
  return publicPackages(workspace).filter(
    (entry) =>
      !entry.isNative ||
      existsSync(join(workspace, entry.folder, entry.manifest.main)) ||
      (fitsHere(entry) && !entry.folder.endsWith("-cuda")),
  );
}

/** For this machine. @returns One entry a package with `tarball`, the path of its .tgz in `folder`. */
export async function packAll(folder) {
  mkdirSync(folder, { recursive: true });
  const packed = [];
  for (const entry of publishablePackages().filter(fitsHere)) {
    const programs = entry.manifest.publishConfig?.executableFiles ?? [];
    const missing = [entry.manifest.main, ...programs, ...targets(entry.manifest.exports)].filter(
      (file) => file && !existsSync(join(root, entry.folder, file)),
    );
    if (missing.length > 0) throw new Error(`${entry.name} lacks ${missing.join(", ")}; run: node scripts/setup.mjs`);
    const { code, output } = await run(["pnpm", "pack", "--json", "--pack-destination", folder], {
      cwd: join(root, entry.folder),
      log: "pack",
      timeoutMs: 120_000,
    });
    if (code !== 0) throw new Error(`${entry.name} can't be packed:\n${output}`);
    const { filename } = JSON.parse(output.slice(output.indexOf("{")));
    packed.push({ ...entry, tarball: isAbsolute(filename) ? filename : join(folder, filename) });
  }
  return packed;
}

const targets = (exports) => (typeof exports === "string" ? [exports] : exports ? Object.values(exports).flatMap(targets) : []);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folder = process.argv[2] ?? join(root, "build", "packages");
  try {
    const packed = await packAll(folder);
    const width = Math.max(...packed.map(({ name }) => name.length));
    for (const { name, tarball } of packed) step(name.padEnd(width), tarball);
  } catch (error) {
    giveUp(error.message);
  }
}
