// dfccl-nccl, installed as a user installs it, with NCCL's library over simulated devices in it, and its tests.
// By hand: node scripts/checks/python-nccl.mjs [PYTEST'S ARGUMENTS, such as tests/test_run.py]
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { onPath } from "../lib/machine.mjs";
import { root } from "../lib/paths.mjs";
import { environmentObstacle, installObstacle, pythonEnvironment, runPytest, skipped } from "../lib/python-packages.mjs";
import { buildTests } from "./ctest.mjs";

const name = "dfccl-nccl";
const place = pythonEnvironment("python-nccl");

export async function pythonNcclTests(args = []) {
  if (!onPath("nvcc")) return skipped("nvcc is missing: install the CUDA toolkit 13");
  const built = await buildTests("release", { target: "dfccl_nccl_simulated", log: "python-nccl" });
  if (built.code !== 0) return { failed: 1, details: built.output };
  const library = "build/release/simulated/libnccl.so.2";
  const obstacle =
    (await environmentObstacle(place, ["pytest", "setuptools>=70.1"], { why: name })) ??
    (await installObstacle(place, name, { env: { DFCCL_NCCL_LIBRARY: join(root, library) }, needs: ["build/release/simulated"] }));
  if (obstacle) return obstacle;
  // As many blocks as the machine's cores bear, each of which is a thread here.
  return runPytest(place, name, { args, env: { NCCL_MAX_CTAS: "2" }, timeoutMs: 600_000 });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details, ...counts } = await pythonNcclTests(process.argv.slice(2));
  process.stdout.write(`${details ?? ""}\n${JSON.stringify(counts)}\n`);
  process.exit(counts.failed || !counts.passed ? 1 : 0);
}
