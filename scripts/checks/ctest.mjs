// The native tests under one preset, counted from ctest's report and from doctest's own summary in it.
// By hand: node scripts/checks/ctest.mjs PRESET [LABELS [REPETITIONS]]
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { countReport, failuresOf } from "../lib/ctest-report.mjs";
import { locked } from "../lib/locked.mjs";
import { onPath } from "../lib/machine.mjs";
import { buildDirectory, cacheDirectory, root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";
import { configureCommand } from "../setup.mjs";

const nativeFolder = join(root, "native");
const sanitizerOptions = {
  ASAN_OPTIONS: "detect_stack_use_after_return=1:strict_string_checks=1",
  UBSAN_OPTIONS: "print_stacktrace=1",
  TSAN_OPTIONS: "halt_on_error=1:second_deadlock_stack=1",
};

/**
 * @param options.labels - ctest's regular expression over the labels of native/cmake/tests.cmake.
 * @param options.target - what to build, a target or several: all tests, or those of one label.
 * @param options.without - labels left out.
 * @param options.repeat - how often each test must pass.
 * @param options.atOnce - how many tests run at the same time.
 */
export async function nativeTests(
  preset,
  { labels, target = "native_tests", without, repeat = 1, atOnce = 1, timeoutMs = 720_000, log = `ctest-${preset}` } = {},
) {
  const started = performance.now();
  const built = await buildTests(preset, { target, log });
  if (built.code !== 0) return { failed: 1, details: built.output };
  const buildSeconds = (performance.now() - started) / 1000;

  const report = join(cacheDirectory, `${log}.xml`);
  rmSync(report, { force: true });
  const selection = [...(labels ? ["-L", labels] : []), ...(without ? ["-LE", without] : [])];
  const ctest = ["ctest", "--test-dir", buildDirectory(preset), "--output-junit", report, "--output-on-failure", "--no-tests=error"];
  const sizes = ["--test-output-size-passed", "1000000", "--test-output-size-failed", "1000000"];
  const repeated = repeat > 1 ? ["--repeat", `until-fail:${repeat}`] : [];
  const parallel = ["--parallel", String(atOnce)];
  const { code, output } = await run([...fixedAddresses(preset), ...ctest, ...sizes, ...parallel, ...selection, ...repeated], {
    cwd: nativeFolder,
    log,
    timeoutMs,
    env: sanitizerOptions,
  });
  const xml = existsSync(report) ? readFileSync(report, "utf8") : undefined;
  const counts = xml ? countReport(xml) : { passed: 0, failed: 1, skipped: 0 };
  const failed = code !== 0 && counts.failed === 0 ? 1 : counts.failed;
  return { ...counts, failed, details: (xml && failuresOf(xml)) || output, note: `built in ${buildSeconds.toFixed(0)} s` };
}

/**
 * @param options.inBackground - beside other tests: one job, which yields to whatever else wants to run.
 * @returns the code and output of the command that failed, or of the last one.
 */
export async function buildTests(preset, { target = "native_tests", log = `ctest-${preset}`, inBackground = false } = {}) {
  const addon = preset === "release" ? [] : ["-DDFCCL_BUILD_ADDON=OFF"];
  const jobs = inBackground ? "1" : "2";
  let result;
  for (const plain of [
    configureCommand(preset, ...addon),
    ["cmake", "--build", "--preset", preset, "--target", ...[target].flat(), "-j", jobs],
  ]) {
    const command = inBackground ? ["nice", "-n", "19", ...plain] : plain;
    result = await run(locked(command, preset), { cwd: nativeFolder, log: `${log}-build`, timeoutMs: 1_800_000 });
    if (result.code !== 0) break;
  }
  return result;
}

/** ThreadSanitizer of older compilers can't start where the kernel scatters addresses too widely. */
const fixedAddresses = (preset) =>
  preset === "tsan" && onPath("setarch") ? ["setarch", process.arch === "x64" ? "x86_64" : "aarch64", "-R"] : [];

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [preset = "release", labels, repeat = "1"] = process.argv.slice(2);
  const { details, ...counts } = await nativeTests(preset, { labels, repeat: Number(repeat), timeoutMs: 7_200_000 });
  process.stdout.write(`${details}\n${JSON.stringify(counts)}\n`);
  process.exit(counts.failed ? 1 : 0);
}
