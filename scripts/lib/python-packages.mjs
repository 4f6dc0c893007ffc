// Packages of python/, installed as a user installs them, each into an environment of its own, and their tests.
import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { cacheDirectory, root } from "./paths.mjs";
import { run, tail } from "./run.mjs";
import { fingerprint, isFresh, remember } from "./stamps.mjs";

/** As a runner's result. */
export const skipped = (details) => ({ skipped: 1, details });

/** A virtual environment in the cache. */
export function pythonEnvironment(name) {
  const environment = join(cacheDirectory, name);
  return { environment, python: join(environment, "bin", "python") };
}

/**
 * Makes the environment where there is none with these packages.
 * @returns the runner's result where that can't be.
 */
export async function environmentObstacle({ environment, python }, packages, { why, index } = {}) {
  const found = await run(["python3", "-c", "import sys, venv; print(*sys.version_info[:2])"], { log: "python-setup" });
  if (found.code !== 0) return skipped("python3 with its module venv is missing: apt-get install python3-venv");
  const [major, minor] = found.output.trim().split(" ").map(Number);
  if (major !== 3 || minor < 10) return skipped(`Python is ${major}.${minor}, and ${why} needs 3.10 or newer`);
  const print = fingerprint([], [found.output, ...packages].join(" "));
  if (existsSync(python) && isFresh(basename(environment), print)) return undefined;
  rmSync(environment, { recursive: true, force: true });
  const made = await run(["python3", "-m", "venv", environment], { log: "python-setup" });
  if (made.code !== 0) return skipped(`no environment of Python's can be made: ${made.output.trim().split("\n").at(-1)}`);
  const obstacle = await fetchObstacle(python, packages, index);
  if (obstacle) return obstacle;
  remember(basename(environment), print);
  return undefined;
}

/** Installs what a registry has. @returns the runner's result where that can't be. */
export async function fetchObstacle(python, packages, index) {
  const install = [python, "-m", "pip", "install", "--quiet", "--retries", "1", ...(index ? ["--extra-index-url", index] : [])];
  const { code, output } = await run([...install, ...packages], { log: "python-setup", timeoutMs: 900_000 });
  return code === 0 ? undefined : skipped(`${packages.join(", ")} can't be had:\n${tail(output, 2)}`);
}

/**
 * Installs a package of this repository, without what pip would fetch for the build, and without traces in the sources.
 * @param options.needs - files besides the package's of which it is made.
 * @returns the runner's result where that fails.
 */
export async function installObstacle({ environment, python }, name, { env = {}, needs = [] } = {}) {
  const folder = join(root, "python", name);
  const print = fingerprint([`python/${name}`, ...needs], python);
  const stamp = `${name} in ${basename(environment)}`;
  if (isFresh(stamp, print)) return undefined;
  const install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--force-reinstall", folder];
  // As on a reader's machine, whatever is set here: what an installation leaves beside the sources is to be seen.
  const { code, output } = await run(install, { log: "python-setup", env: { ...env, PYTHONDONTWRITEBYTECODE: "" } });
  for (const left of ["build", `src/${name.replace("-", "_")}.egg-info`]) rmSync(join(folder, left), { recursive: true, force: true });
  if (code !== 0) return { failed: 1, details: output };
  remember(stamp, print);
  return undefined;
}

/** @returns the runner's result. */
export async function runPytest({ python }, name, { args = [], env = {}, timeoutMs }) {
  const command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", ...args];
  const { code, output } = await run(command, {
    cwd: join(root, "python", name),
    // Its examples of failures are worth keeping, but not beside the sources.
    env: { ...env, PYTHONDONTWRITEBYTECODE: "1", HYPOTHESIS_STORAGE_DIRECTORY: join(cacheDirectory, "hypothesis") },
    log: "python",
    timeoutMs,
  });
  const counts = countsOf(output);
  // A collection that fails counts nothing.
  if (code !== 0 && !counts.failed) counts.failed = 1;
  return { ...counts, details: output };
}

function countsOf(output) {
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  const count = (word) => Number(last.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0);
  return { passed: count("passed"), failed: count("failed") + count("errors?"), skipped: count("skipped") };
}
