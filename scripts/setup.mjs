// Brings a fresh clone to where the main job runs: tools, npm packages, TypeScript build, native build.
// Each stage is skipped when nothing that it reads has changed. `node scripts/setup.mjs [--test]`
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bold, giveUp, line, step, yellow } from "./lib/console.mjs";
import { linkCommands } from "./lib/link-commands.mjs";
import { locked } from "./lib/locked.mjs";
import { aptInstall, cmakeGenerator, installCommand, mayInstall, missingNeeds } from "./lib/machine.mjs";
import { isNodeNewEnough } from "./lib/node-range.mjs";
import { buildDirectory, pnpmVersion, root } from "./lib/paths.mjs";
import { run, tail } from "./lib/run.mjs";
import { fingerprint, isFresh, remember } from "./lib/stamps.mjs";

const workspaceFolders = ["packages", "apps"].flatMap((parent) =>
  existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => `${parent}/${name}`) : [],
);

/**
 * @param options.for - what else than the build is wanted: "test", "bench", "pack".
 * @returns The needs of those purposes that are missing here; a missing need of the build ends the program.
 */
export async function setup(options = {}) {
  const purposes = ["build", ...(options.for ? [options.for] : [])];
  line(bold("Setting up"));
  checkNode();
  const missing = await tools(purposes);
  await stage("npm packages", dependencyPrint(), () => existsSync(join(root, "node_modules", ".bin", "turbo")), installDependencies);
  await stage("TypeScript build", fingerprint([...workspaceFolders, ...typescriptInputs]), isBuilt, [
    ["turbo", "run", "build", "--output-logs=errors-only", "--no-update-notifier"],
  ]);
  linkCommands();
  await stage("native build", fingerprint(nativeInputs), () => existsSync(join(buildDirectory("release"), "libdfccl.so")), [
    configureCommand("release"),
    ["cmake", "--build", "--preset", "release", "--target", "dfccl_product", "-j", "2"],
  ]);
  line();
  return missing;
}

/** What all of the packages are built with. */
const typescriptInputs = ["tsconfig.base.json", "turbo.json", "pnpm-lock.yaml", "scripts/mark-types.mjs"];

const benchHeaders = ["arguments", "machine_probe", "measurement"].map((name) => `bench/${name}.hpp`);

/** Reads only what ships; tests and the other benchmarks don't make the product stale. */
const nativeInputs = [
  "include",
  "src",
  "addon",
  "bench/perf",
  ...benchHeaders,
  "cmake",
  "CMakeLists.txt",
  "CMakePresets.json",
  "package.json",
].map((path) => `native/${path}`);

/** Configures a preset; the generator is chosen once and stays with the build folder. */
export function configureCommand(preset, ...definitions) {
  const known = existsSync(join(buildDirectory(preset), "CMakeCache.txt"));
  return ["cmake", "--preset", preset, ...(known ? [] : cmakeGenerator()), ...definitions];
}

function checkNode() {
  if (!isNodeNewEnough(process.versions.node))
    giveUp(`dfccl needs Node 20.19, 22.12 or newer, and this is ${process.versions.node}. With nvm: nvm install 24`);
  step("Node", process.version);
}

async function tools(purposes) {
  let missing = await missingNeeds(purposes);
  if (missing.length > 0 && mayInstall()) {
    step("tools", yellow(`installing ${missing.map(({ name }) => name).join(", ")}`));
    await aptInstall(missing);
    missing = await missingNeeds(purposes);
  }
  const required = missing.filter((need) => need.for === "build" && !need.optional);
  if (required.length > 0) {
    giveUp(
      `${required.map(({ name }) => name).join(" and ")} missing. Type this, then run the same command again:\n\n    ${installCommand(required)}\n`,
    );
  }
  step("tools", missing.length === 0 ? "all there" : yellow(`missing: ${missing.map(({ name }) => name).join(", ")}`));
  if (missing.length > 0) line(`  ${"".padEnd(20)} to have them: ${installCommand(missing)}`);
  return missing;
}

const manifests = ["package.json", "native/package.json", ...workspaceFolders.map((folder) => `${folder}/package.json`)];
const dependencyPrint = () => fingerprint(["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests]);
const installDependencies = [["npx", "--yes", `pnpm@${pnpmVersion}`, "install", "--frozen-lockfile"]];

const isBuilt = () =>
  workspaceFolders.every((folder) => !existsSync(join(root, folder, "tsup.config.ts")) || existsSync(join(root, folder, "dist")));

async function stage(name, print, isThere, commands) {
  if (isFresh(name, print) && isThere()) {
    step(name, "unchanged");
    return;
  }
  rmSync(join(root, ".cache", "logs", `${slug(name)}.log`), { force: true });
  const started = performance.now();
  for (const command of commands) {
    const isNative = command[0] === "cmake";
    const [cwd, lock] = isNative ? [join(root, "native"), "release"] : [root, "packages"];
    // Twice as long as it takes at most: another one may go first.
    const { code, output } = await run(locked(command, lock), { cwd, timeoutMs: 1_800_000, log: slug(name), env: { CI: "true" } });
    if (code !== 0) {
      line(tail(output));
      giveUp(`${name} failed (${command.join(" ")}). The whole log: .cache/logs/${slug(name)}.log`);
    }
  }
  if (!isThere()) giveUp(`${name} ended well but made nothing. The log: .cache/logs/${slug(name)}.log`);
  remember(name, print);
  step(name, "done", (performance.now() - started) / 1000);
}

const slug = (name) => name.toLowerCase().replaceAll(" ", "-");

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await setup({ for: process.argv.includes("--test") ? "test" : undefined });
