// The C library as files to hand on: a tarball, and Debian packages where there is dpkg.
//   node scripts/pack-c.mjs [FOLDER, default build/c-package [BUILD, default build/release]]    (npm run pack:c)
// BUILD is one of native/: configured with -DDFCCL_CUDA=ON, its library has the GPU engine too.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { giveUp, line, step } from "./lib/console.mjs";
import { packDebian } from "./lib/debian-packages.mjs";
import { installTree, keepingManifests } from "./lib/install-tree.mjs";
import { onPath } from "./lib/machine.mjs";
import { buildDirectory, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";
import { stripLibraries } from "./lib/strip-libraries.mjs";
import { setup } from "./setup.mjs";

/** What tar and dpkg-deb date files with, so that one commit gives one archive. */
async function dateOfCommit() {
  const { code, output } = await run(["git", "log", "-1", "--format=%ct"]);
  return code === 0 ? output.trim() : "0";
}

/** @returns the paths of what was made in `folder`. @throws where a program fails, with what it printed. */
export async function packLibrary(folder, build = buildDirectory("release")) {
  // Files and folders have the rights that installed ones need, whatever this user's own get.
  const umask = process.umask(0o022);
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(root, "native", "package.json"), "utf8"));
  const work = mkdtempSync(join(tmpdir(), "dfccl-pack-c-"));
  try {
    const date = await dateOfCommit();
    const made = [await packTarball({ work, folder, build, version, date })];
    if (onPath("dpkg-deb") && onPath("dpkg-shlibdeps")) made.push(...(await packDebian({ work, folder, build, version, date })));
    return made;
  } finally {
    process.umask(umask);
    rmSync(work, { recursive: true, force: true });
  }
}

async function packTarball({ work, folder, build, version, date }) {
  const name = `dfccl-${version}-linux-${process.arch}`;
  const tree = join(work, name);
  await keepingManifests(build, () => installTree(build, tree));
  await stripLibraries(tree);
  const tarball = join(folder, `${name}.tar.gz`);
  const sameEverywhere = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${date}`];
  const { code, output } = await run(["tar", "-C", work, ...sameEverywhere, "-czf", tarball, name], { log: "pack-c" });
  if (code !== 0) throw new Error(`tar failed:\n${output}`);
  return tarball;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [folder = join(root, "build", "c-package"), build] = process.argv.slice(2);
  if (build === undefined) await setup();
  try {
    for (const path of await packLibrary(folder, build)) step("made", path);
  } catch (error) {
    giveUp(error.message);
  }
  if (!onPath("dpkg-shlibdeps")) line("  No Debian packages: dpkg-deb or dpkg-shlibdeps is missing (apt-get install dpkg-dev)");
}
