// dfccl as a C library that somebody installs and links: what `cmake --install` writes, the example against it with gcc and as C++,
// shared and static, docs/c.md word for word, and the packages. The engine is not built again.
// By hand: node scripts/checks/c-library.mjs
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { withVersion } from "../header-version.mjs";
import { installTree, keepingManifests } from "../lib/install-tree.mjs";
import { onPath } from "../lib/machine.mjs";
import { pageCommands } from "../lib/page-commands.mjs";
import { buildDirectory, root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";
import { packLibrary } from "../pack-c.mjs";

const build = buildDirectory("release");
const manifest = JSON.parse(readFileSync(join(root, "native", "package.json"), "utf8"));
const headerFolder = join(root, "native", "include", "dfccl");
const headers = () =>
  ["dfccl.h", "counts.h", "groups.h", "inspect.h", "operators.h", "streams.h"]
    .map((name) => readFileSync(join(headerFolder, name), "utf8"))
    .join();
const major = manifest.version.split(".")[0];

const runtimeFiles = [`lib/libdfccl.so.${major}`, `lib/libdfccl.so.${manifest.version}`, "share/doc/dfccl/LICENSE"];
const developmentFiles = [
  "include/dfccl/dfccl.h",
  "include/dfccl/counts.h",
  "include/dfccl/groups.h",
  "include/dfccl/inspect.h",
  "include/dfccl/operators.h",
  "include/dfccl/status.h",
  "include/dfccl/streams.h",
  "lib/cmake/dfccl/dfccl-config-version.cmake",
  "lib/cmake/dfccl/dfccl-config.cmake",
  "lib/libdfccl.a",
  "lib/libdfccl.so",
  "lib/pkgconfig/dfccl.pc",
];

export async function cLibrary() {
  const work = mkdtempSync(join(tmpdir(), "dfccl-c-"));
  const sum = { passed: 0, failed: 0, skipped: 0, details: "" };
  const check = async (name, act) => {
    try {
      await act();
      sum.passed += 1;
    } catch (error) {
      sum.failed += 1;
      sum.details += `${name}:\n${error.message}\n`;
    }
  };
  try {
    await check("the header has the packages' version", headerVersion);
    await check("the library exports what the header declares, and nothing else", exportedFunctions);
    await check("the test of misuse leaves no function out", everyFunctionMisused);
    await keepingManifests(build, async () => {
      const prefix = join(work, "elsewhere");
      await check("an install writes the public files alone", () => install(work, prefix));
      await check("the header is C99 and C++11", () => compileHeader(prefix, work));
      for (const [language, compiler, flags] of languages)
        await check(`the Makefile builds the example as ${language}`, () => makeExample(work, prefix, language, compiler, flags));
      await check("the example runs a rank a process", () => launch(join(work, "make-C")));
      await check("the CMakeLists.txt builds the example", () => cmakeExample(work, prefix));
      await check("CMake refuses another major version", () => otherVersion(work, prefix));
      await check("uninstall takes back what was installed", () => uninstall(work));
    });
    await check("docs/c.md does what it says", () => keepingManifests(build, () => page(work)));
    if (onPath("dpkg-deb") && onPath("dpkg-shlibdeps")) await check("the packages hold what the example needs", () => packages(work));
    else sum.skipped += 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return sum;
}

const languages = [
  ["C", "cc", "-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror"],
  ["C++", "c++", "-x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror"],
];

async function must(command, options = {}) {
  const { code, output } = await run(command, { log: "c-library", timeoutMs: 120_000, ...options });
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${output}`);
  return output;
}

function expectEqual(what, actual, expected) {
  const [is, should] = [actual, expected].map((value) => JSON.stringify(value, null, 1));
  if (is !== should) throw new Error(`${what}: ${is}, and not ${should}`);
}

function headerVersion() {
  const header = readFileSync(join(headerFolder, "dfccl.h"), "utf8");
  if (withVersion(header, manifest.version) !== header)
    throw new Error(`dfccl.h is of another version than native/package.json, ${manifest.version}: node scripts/header-version.mjs`);
}

/** Inline functions aside, which the library hasn't got. */
const declaredFunctions = () => [...headers().matchAll(/^(?:dfcclResult_t|const char\*) (dfccl\w+)\(/gm)].map(([, name]) => name).sort();

async function exportedFunctions() {
  const output = await must(["nm", "-D", "--defined-only", "--format=posix", join(build, "libdfccl.so")]);
  const exported = output
    .trim()
    .split("\n")
    .map((line) => line.split(" ")[0]);
  expectEqual("exported", exported.sort(), declaredFunctions());
}

function everyFunctionMisused() {
  const folder = join(root, "native", "test", "c_api");
  const tests = readdirSync(folder)
    .filter((name) => name.endsWith("misuse_test.c") || name === "version_test.c")
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join();
  const takesNothing = ["dfcclBatchBegin", "dfcclGetLastError", "dfcclVersion"];
  const missing = declaredFunctions().filter((name) => !takesNothing.includes(name) && !tests.includes(`${name}(`));
  expectEqual("functions that no test of misuse calls", missing, []);
}

/** Installed to one place and moved to another: nothing may name the first. */
async function install(work, prefix) {
  for (const [component, files] of [
    ["runtime", runtimeFiles],
    ["development", developmentFiles],
  ]) {
    await installTree(build, join(work, component), { component });
    expectEqual(component, filesOf(join(work, component)), [...files].sort());
  }
  await installTree(build, join(work, "first"));
  renameSync(join(work, "first"), prefix);
  expectEqual("installed", filesOf(prefix), [...runtimeFiles, ...developmentFiles].sort());
  const named = await must(["readelf", "-d", join(prefix, "lib", "libdfccl.so")]);
  if (!named.includes(`[libdfccl.so.${major}]`)) throw new Error(`the soname is not libdfccl.so.${major}:\n${named}`);
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

async function compileHeader(prefix, work) {
  const header = join(prefix, "include", "dfccl", "dfccl.h");
  const strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", join(prefix, "include")];
  await must(["cc", "-x", "c", "-std=c99", ...strict, header], { cwd: work });
  await must(["c++", "-x", "c++", "-std=c++11", ...strict, header], { cwd: work });
}

const pkgConfigPath = (prefix) => ({ PKG_CONFIG_PATH: join(prefix, "lib", "pkgconfig"), PKG_CONFIG_LIBDIR: "" });

async function makeExample(work, prefix, language, compiler, flags) {
  const folder = join(work, `make-${language}`);
  cpSync(join(root, "examples", "c"), folder, { recursive: true });
  await must(["make", `CC=${compiler}`, `CFLAGS=-O1 ${flags}`], { cwd: folder, env: pkgConfigPath(prefix) });
  await runExamples(folder);
}

async function cmakeExample(work, prefix) {
  const [from, to] = [join(root, "examples", "c"), join(work, "cmake")];
  await must(["cmake", "-S", from, "-B", to, `-DCMAKE_PREFIX_PATH=${prefix}`, "-DCMAKE_BUILD_TYPE=Release"]);
  await must(["cmake", "--build", to]);
  await runExamples(to);
}

/** The static one must not need the shared one. */
async function runExamples(folder) {
  for (const name of ["all_reduce", "all_reduce_static"]) expectEqual(name, ranksOf(await must([join(folder, name), "3"])), threeRanks);
  const needed = await must(["readelf", "-d", join(folder, "all_reduce_static")]);
  if (needed.includes("libdfccl.so")) throw new Error(`all_reduce_static needs the shared library:\n${needed}`);
}

async function launch(folder) {
  for (const name of ["all_reduce", "all_reduce_static"]) {
    const program = join(folder, name);
    expectEqual(`${name}, launched`, ranksOf(await must([...dfccl, "launch", "-n", "3", program])), threeRanks);
  }
}

const dfccl = ["node", join(root, "apps", "bench", "dist", "cli.js")];
const threeRanks = [0, 1, 2].map((rank) => `rank ${rank} of 3, ${rank} on its machine: 6`);
const ranksOf = (output) => (output.match(/rank \d+ of .*/g) ?? []).sort();

async function otherVersion(work, prefix) {
  const folder = join(work, "other-version");
  cpSync(join(root, "examples", "c"), folder, { recursive: true });
  const project = join(folder, "CMakeLists.txt");
  await must(["sed", "-i", `s/find_package(dfccl [0-9.]* REQUIRED)/find_package(dfccl ${Number(major) + 1}.0 REQUIRED)/`, project]);
  const { code, output } = await run(["cmake", "-S", folder, "-B", join(folder, "build"), `-DCMAKE_PREFIX_PATH=${prefix}`]);
  if (code === 0 || !/compatible\s+with requested version/.test(output)) throw new Error(`it took it:\n${output}`);
}

async function uninstall(work) {
  const prefix = join(work, "uninstalled");
  mkdirSync(join(prefix, "lib"), { recursive: true });
  cpSync(join(root, "LICENSE"), join(prefix, "lib", "somebody-else's"));
  await installTree(build, prefix);
  await must(["cmake", "-D", `BUILD=${build}`, "-P", join(root, "native", "cmake", "uninstall.cmake")]);
  expectEqual("left", filesOf(prefix), ["lib/somebody-else's"]);
  if (readdirSync(join(prefix, "include")).length > 0) throw new Error("include/dfccl is left");
}

/** In a folder that looks like a clone, with a home of its own. */
async function page(work) {
  const [folder, home] = [join(work, "clone"), join(work, "home")];
  for (const path of [folder, home]) mkdirSync(path);
  for (const name of ["build", "examples", "node_modules", "package.json"]) symlinkSync(join(root, name), join(folder, name));
  const { script, printed } = pageCommands(readFileSync(join(root, "docs", "c.md"), "utf8"));
  const output = await must(["sh", "-ec", script], { cwd: folder, env: { HOME: home, npm_config_offline: "true" } });
  for (const text of printed) if (!output.includes(text)) throw new Error(`it doesn't print "${text}":\n${output}`);
  if (ranksOf(output).length !== 4 + 4 + 3) throw new Error(`not every program has run:\n${output}`);
}

/** The Debian packages' content, unpacked into one folder, and the tarball's, in another. */
async function packages(work) {
  const made = await packLibrary(join(work, "packages"));
  const [tarball, ...debs] = made;
  expectEqual("packages", debs.length, 2);
  const [unpacked, debian] = [join(work, "unpacked"), join(work, "debian")];
  mkdirSync(unpacked);
  await must(["tar", "-C", unpacked, "--strip-components=1", "-xzf", tarball]);
  expectEqual("the tarball", filesOf(unpacked), [...runtimeFiles, ...developmentFiles].sort());
  for (const deb of debs) await must(["dpkg-deb", "-x", deb, debian]);
  const fields = await must(["dpkg-deb", "-f", debs[0], "Package", "Depends"]);
  if (!fields.includes(`Package: libdfccl${major}\n`) || !/Depends: .*libc6 \(>= /.test(fields))
    throw new Error(`its fields are\n${fields}`);
  await makeExample(join(work, "packages"), join(debian, "usr"), "C", "cc", languages[0][2]);
  await cmakeExample(join(work, "packages"), unpacked);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details, ...counts } = await cLibrary();
  process.stdout.write(`${details}${JSON.stringify(counts)}\n`);
  process.exit(counts.failed ? 1 : 0);
}
