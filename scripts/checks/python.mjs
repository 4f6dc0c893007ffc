// dfccl-torch, installed as a user installs it, into an environment of its own, and its tests.
// By hand: node scripts/checks/python.mjs [PYTEST'S ARGUMENTS, such as tests/test_any_order.py]
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cacheDirectory } from "../lib/paths.mjs";
import { environmentObstacle, fetchObstacle, installObstacle, pythonEnvironment, runPytest } from "../lib/python-packages.mjs";

// The CPU's torch: a sixth of what the one for GPUs takes to fetch.
const version = process.env.DFCCL_TEST_TORCH ?? "2.13.0+cpu";
const torch = `torch==${version}`;
const index = "https://download.pytorch.org/whl/cpu";
const testTools = ["numpy", "pytest", "hypothesis", "pillow", "setuptools"];
const longTools = ["accelerate", "lightning"]; // what the tests in tests/long train with

const name = "dfccl-torch";
const place = pythonEnvironment(process.env.DFCCL_TEST_TORCH ? `python-${version}` : "python");
const isLong = process.env.DFCCL_TEST_TIER === "long";

export async function pythonTests(args = []) {
  const obstacle =
    (await environmentObstacle(place, [torch, ...testTools], { why: "torch", index })) ??
    // Beside the same torch, and only for those who test at length.
    (isLong ? await fetchObstacle(place.python, [torch, ...longTools], index) : undefined) ??
    (await installObstacle(place, name));
  if (obstacle) return obstacle;
  const env = { DFCCL_TORCH_CACHE: join(cacheDirectory, "dfccl-torch") };
  return runPytest(place, name, { args, env, timeoutMs: isLong ? 5_400_000 : 1_800_000 });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details, ...counts } = await pythonTests(process.argv.slice(2));
  process.stdout.write(`${details ?? ""}\n${JSON.stringify(counts)}\n`);
  process.exit(counts.failed || !counts.passed ? 1 : 0);
}
