// dfccl-torch, installed as a user installs it, into an environment of its own, and its tests.
// By hand: node scripts/checks/python.mjs [PYTEST'S ARGUMENTS, such as tests/test_any_order.py]
import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { cacheDirectory, root } from "../lib/paths.mjs";
import { run, tail } from "../lib/run.mjs";
import { fingerprint, isFresh, remember } from "../lib/stamps.mjs";

// The CPU's torch: a sixth of what the one for GPUs takes to fetch.
const version = process.env.DFCCL_TEST_TORCH ?? "2.13.0+cpu";
const torch = `torch==${version}`;
const torchIndex = "https://download.pytorch.org/whl/cpu";
const testTools = ["numpy", "pytest", "hypothesis", "pillow", "setuptools"];
const longTools = ["accelerate", "lightning"]; // what the tests in tests/long train with

const folder = join(root, "python", "dfccl-torch");
const environment = join(cacheDirectory, process.env.DFCCL_TEST_TORCH ? `python-${version}` : "python");
const isLong = process.env.DFCCL_TEST_TIER === "long";
const python = join(environment, "bin", "python");

export async function pythonTests(args = []) {
  const obstacle = (await environmentObstacle()) ?? (await installObstacle());
  if (obstacle) return obstacle;
  const command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", ...args];
  const env = { DFCCL_TORCH_CACHE: join(cacheDirectory, "dfccl-torch"), PYTHONDONTWRITEBYTECODE: "1" };
  const { code, output } = await run(command, { cwd: folder, env, log: "python", timeoutMs: isLong ? 5_400_000 : 900_000 });
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

const skipped = (details) => ({ skipped: 1, details });

/** Makes the environment where there is none. @returns the runner's result where that can't be. */
async function environmentObstacle() {
  const found = await run(["python3", "-c", "import sys, venv; print(*sys.version_info[:2])"], { log: "python-setup" });
  if (found.code !== 0) return skipped("python3 with its module venv is missing: apt-get install python3-venv");
  const [major, minor] = found.output.trim().split(" ").map(Number);
  if (major !== 3 || minor < 10) return skipped(`Python is ${major}.${minor}, and torch needs 3.10 or newer`);
  const print = fingerprint([], [found.output, torch, ...testTools].join(" "));
  if (existsSync(python) && isFresh(basename(environment), print)) return isLong ? longObstacle() : undefined;
  rmSync(environment, { recursive: true, force: true });
  const made = await run(["python3", "-m", "venv", environment], { log: "python-setup" });
  if (made.code !== 0) return skipped(`no environment of Python's can be made: ${made.output.trim().split("\n").at(-1)}`);
  const obstacle = await installed([torch, ...testTools]);
  if (obstacle) return obstacle;
  remember(basename(environment), print);
  return isLong ? longObstacle() : undefined;
}

/** Beside the same torch, and only for those who test at length. */
function longObstacle() {
  return installed([torch, ...longTools]);
}

async function installed(packages) {
  const install = [python, "-m", "pip", "install", "--quiet", "--retries", "1", "--extra-index-url", torchIndex];
  const { code, output } = await run([...install, ...packages], { log: "python-setup", timeoutMs: 900_000 });
  return code === 0 ? undefined : skipped(`${packages.join(", ")} can't be had:\n${tail(output, 2)}`);
}

/** Without what pip would fetch for the build, and without traces in the sources. */
async function installObstacle() {
  const print = fingerprint(["python/dfccl-torch"], python);
  const stamp = `dfccl-torch in ${basename(environment)}`;
  if (isFresh(stamp, print)) return undefined;
  const install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--force-reinstall", folder];
  const { code, output } = await run(install, { log: "python-setup" });
  for (const left of ["build", "src/dfccl_torch.egg-info"]) rmSync(join(folder, left), { recursive: true, force: true });
  if (code !== 0) return { failed: 1, details: output };
  remember(stamp, print);
  return undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details, ...counts } = await pythonTests(process.argv.slice(2));
  process.stdout.write(`${details ?? ""}\n${JSON.stringify(counts)}\n`);
  process.exit(counts.failed || !counts.passed ? 1 : 0);
}
