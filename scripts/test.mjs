// `npm test [-- --only NAME,NAME] [-- --list]`: set up, run every check and test, end with one line of totals.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { addonSymbols } from "./checks/addon-symbols.mjs";
import { cLibrary } from "./checks/c-library.mjs";
import { watchTree } from "./checks/clean-tree.mjs";
import { arrows, cppFormat, style, types, unusedExports } from "./checks/commands.mjs";
import { commitSubjects } from "./checks/commit-subjects.mjs";
import { buildTests, nativeTests } from "./checks/ctest.mjs";
import { cudaFiles } from "./checks/cuda.mjs";
import { examples } from "./checks/examples.mjs";
import { exportedValues } from "./checks/exported-values.mjs";
import { fuzz } from "./checks/fuzz.mjs";
import { links } from "./checks/links.mjs";
import { publishedManifests } from "./checks/manifests.mjs";
import { nativeIncludes } from "./checks/native-includes.mjs";
import { ncclFunctions } from "./checks/nccl-table.mjs";
import { packageShape } from "./checks/package-shape.mjs";
import { pythonTests } from "./checks/python.mjs";
import { pythonNcclTests } from "./checks/python-nccl.mjs";
import { releaseNotes } from "./checks/release-notes.mjs";
import { typescriptTests } from "./checks/vitest.mjs";
import { buildArm64, whyNoArm64 } from "./lib/arm64.mjs";
import { bold, dim, green, line, red, yellow } from "./lib/console.mjs";
import { installCommand } from "./lib/machine.mjs";
import { cacheDirectory } from "./lib/paths.mjs";
import { tail } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

const stressTests = { labels: "^stress$", target: "native_tests_stress", timeoutMs: 1_500_000 };

/**
 * `requires`: a need of scripts/lib/machine.mjs without which the runner is skipped.
 * `leavesACore`: while it runs, what runners can do ahead is done beside it, at the lowest priority; what that gives
 * is handed to their `run`.
 */
const runners = [
  { name: "style", what: "biome: format and lint; files' lengths", run: style },
  { name: "types", what: "tsc on all packages", run: types },
  { name: "arrows", what: "imports between packages, cycles", run: arrows },
  { name: "c++ arrows", what: "includes between folders, circles", run: () => nativeIncludes() },
  { name: "nccl table", what: "docs/nccl.md and the list of functions", run: () => ncclFunctions() },
  { name: "unused", what: "knip: unused exports and dependencies", run: unusedExports },
  { name: "shape", what: "publint and are-the-types-wrong", run: packageShape },
  { name: "manifests", what: "package.json of what is published", run: () => publishedManifests() },
  { name: "notes", what: "what .changeset tells of the next release", run: () => releaseNotes() },
  { name: "commits", what: "subjects of at most 72 characters", run: () => commitSubjects(), requires: "git" },
  { name: "links", what: "between pages, and on npm's", run: () => links() },
  { name: "exports", what: "what types promise is there at run time", run: exportedValues },
  { name: "c++ format", what: "clang-format", run: cppFormat, requires: "clang-format 14" },
  { name: "addon symbols", what: "glibc floor of what ships prebuilt", run: () => addonSymbols() },
  { name: "typescript", what: "vitest", run: typescriptTests, leavesACore: true },
  {
    name: "c++",
    what: "ctest, release",
    run: () => nativeTests("release", { without: "relacy", target: ["native_tests", "bench"], atOnce: 2 }),
    requires: "doctest",
  },
  {
    name: "c++ relacy",
    what: "relaxed-memory verifier",
    run: () => nativeTests("release", { labels: "relacy", log: "ctest-relacy" }),
    requires: "relacy",
  },
  {
    // The long tier runs the unit tests and the C API under every sanitizer.
    name: "c++ tsan",
    what: "stress tests",
    ahead: () => buildTests("tsan", { ...stressTests, inBackground: true }),
    run: () => nativeTests("tsan", stressTests),
    requires: "doctest",
  },
  {
    name: "cuda",
    what: "nvcc on every file of cuda/",
    ahead: () => cudaFiles({ inBackground: true }),
    run: (result) => result ?? cudaFiles(),
  },
  {
    name: "packages",
    what: "version, publish, install, Node 20–26",
    ahead: () => (whyNoArm64() ? undefined : buildArm64({ inBackground: true })),
    run: packages,
    requires: "git",
  },
  { name: "examples", what: "examples/ run to their end", run: examples },
  { name: "c library", what: "installed, linked, packed", run: cLibrary, requires: "pkg-config" },
  { name: "fuzz", what: "nonsense to all that takes input", run: fuzz },
  { name: "python", what: "torch.distributed's backend", run: () => pythonTests() },
  { name: "python nccl", what: "NCCL's library in a wheel", run: () => pythonNcclTests() },
  // After whichever others ran.
  { name: "clean tree", what: "nothing is left beside the sources", run: () => tree.check() },
];

const selected = selectRunners(process.argv.slice(2));
rmSync(join(cacheDirectory, "logs"), { recursive: true, force: true });
const missing = await setup({ for: "test" });
const started = performance.now();
const tree = await watchTree();
const total = { passed: 0, failed: 0, skipped: 0 };

const ahead = new Map();
line(bold("Testing"));
for (const runner of selected) {
  if (runner.leavesACore) beginAhead();
  const before = performance.now();
  if (process.stdout.isTTY) process.stdout.write(`  ${runner.name.padEnd(16)} ${dim(`${runner.what} …`)}`);
  const { passed = 0, failed = 0, skipped = 0, note, details } = await outcome(runner);
  await tree.look(runner.name);
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  if (process.stdout.isTTY) process.stdout.write("\r\u001b[2K");
  const mark = failed > 0 ? red("✗") : skipped > 0 ? yellow("–") : green("✓");
  const counts = `${passed} passed${failed ? `, ${failed} failed` : ""}${skipped ? `, ${skipped} skipped` : ""}`;
  const seconds = `${((performance.now() - before) / 1000).toFixed(1)} s`;
  line(
    `${mark} ${runner.name.padEnd(16)} ${runner.what.padEnd(40)} ${counts.padEnd(24)} ${seconds.padStart(8)}  ${dim(note ?? "")}`.trimEnd(),
  );
  if (details && (failed > 0 || (skipped > 0 && passed === 0))) line(tail(details, failed > 0 ? 60 : 3));
}
line(dim(`\nin ${((performance.now() - started) / 60_000).toFixed(1)} minutes; everything that was printed is in .cache/logs`));
line(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);

// Imported late, because it needs what the set-up installs.
async function packages() {
  const { testPackages } = await import("./test-packages.mjs");
  return testPackages();
}

/** One after the other. Where that fails, the runner itself fails at its turn, or does the work. */
function beginAhead() {
  let previous = Promise.resolve();
  for (const runner of selected.filter((candidate) => candidate.ahead && !needOf(candidate))) {
    previous = previous.then(runner.ahead).catch(() => undefined);
    ahead.set(runner, previous);
  }
}

function needOf({ requires }) {
  return missing.find(({ name }) => name === requires);
}

async function outcome(runner) {
  const need = needOf(runner);
  if (need) return { skipped: 1, details: `${need.name} is missing. Type: ${installCommand([need])}` };
  try {
    return await runner.run(await ahead.get(runner));
  } catch (error) {
    return { failed: 1, details: error.stack ?? String(error) };
  }
}

function selectRunners(args) {
  const isUnderstood = args.length === 0 || (args[0] === "--only" && args.length === 2) || (args[0] === "--list" && args.length === 1);
  if (!isUnderstood) {
    line("usage: npm test [-- --only NAME,NAME | --list]; without an option, everything, which takes over half an hour on two cores");
    process.exit(2);
  }
  const only = args[1]?.split(",");
  if (args.includes("--list")) {
    for (const { name, what } of runners) line(`${name.padEnd(16)} ${what}`);
    process.exit(0);
  }
  if (!args.includes("--only")) return runners;
  const unknown = (only ?? [""]).filter((name) => !runners.some((runner) => runner.name === name));
  if (unknown.length > 0) {
    line(`no runner is called ${unknown.map((name) => `"${name}"`).join(", ")}; see: npm test -- --list`);
    process.exit(2);
  }
  return runners.filter(({ name }) => only.includes(name) || name === "clean tree");
}
