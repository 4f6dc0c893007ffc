// The lifecycle tests of @dfccl/core with an addon built under AddressSanitizer and UBSan: each starts Node processes of its
// own, into which the sanitizer's runtime is preloaded. By hand: node scripts/lifecycle-asan.mjs
import { join } from "node:path";
import { locked } from "./lib/locked.mjs";
import { buildDirectory, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";
import { configureCommand } from "./setup.mjs";

const preset = "asan";
const native = join(root, "native");
for (const command of [
  configureCommand(preset, "-DDFCCL_BUILD_ADDON=ON"),
  ["cmake", "--build", "--preset", preset, "--target", "dfccl_addon", "-j", "2"],
]) {
  await must(run(locked(command, preset), { cwd: native, log: "lifecycle-asan-build", timeoutMs: 2_400_000 }));
}
const runtime = await must(run(["c++", "-print-file-name=libasan.so"], { timeoutMs: 20_000 }));
await must(
  run(["vitest", "run", "--project", "core", "packages/core/test/lifecycle", "--testTimeout", "300000"], {
    log: "lifecycle-asan",
    timeoutMs: 1_800_000,
    show: true,
    env: {
      NO_COLOR: "1",
      DFCCL_ADDON: join(buildDirectory(preset), "dfccl.node"),
      DFCCL_TEST_PRELOAD: runtime.output.trim(),
      // Node frees nothing at its end, so leaks are not looked for.
      ASAN_OPTIONS: "detect_leaks=0:strict_string_checks=1",
      UBSAN_OPTIONS: "print_stacktrace=1",
    },
  }),
);

async function must(running) {
  const result = await running;
  if (result.code === 0) return result;
  process.stderr.write(result.output);
  process.exit(1);
}
