// What has to be on the machine beside Node, and how to get it there.
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./run.mjs";

const onPath = (program) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

const header = (path) => existsSync(join("/usr/include", path)) || existsSync(join("/usr/local/include", path));

/** Whether the engine for arm64 is built and run here beside this machine's own: where the tools are a package manager's. */
const crossesToArm64 = process.platform === "linux" && process.arch === "x64" && onPath("apt-get");

/** A compiler that knows C++20 well enough; the version is GCC's, or Clang's that replaces it. */
async function hasCompiler() {
  if (!onPath("c++") && !onPath("g++")) return false;
  const { output } = await run([onPath("c++") ? "c++" : "g++", "-dumpversion"], { timeoutMs: 20_000 });
  return Number.parseInt(output, 10) >= 11;
}

async function hasCMake() {
  if (!onPath("cmake")) return false;
  const { output } = await run(["cmake", "--version"], { timeoutMs: 20_000 });
  const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(output)?.map(Number) ?? [];
  return major > 3 || (major === 3 && minor >= 22);
}

/**
 * `packages`: the name in each distribution's package manager. `for`: what wants it, one purpose or several; "build" is wanted by
 * every command, and needed unless `optional`: without it something is left out, which the program says when it is asked for.
 */
export const needs = [
  { name: "C++20 compiler", for: "build", present: hasCompiler, packages: { apt: "g++", dnf: "gcc-c++", pacman: "gcc", apk: "g++" } },
  { name: "CMake ≥ 3.22", for: "build", present: hasCMake, packages: { apt: "cmake", dnf: "cmake", pacman: "cmake", apk: "cmake" } },
  {
    name: "Ninja or make",
    for: "build",
    present: () => onPath("ninja") || onPath("make"),
    packages: { apt: "ninja-build", dnf: "ninja-build", pacman: "ninja", apk: "samurai" },
  },
  {
    name: "UCX",
    for: "build",
    optional: true,
    present: () => header("ucp/api/ucp.h"),
    packages: { apt: "libucx-dev", dnf: "ucx-devel", pacman: "openucx" },
  },
  {
    name: "doctest",
    for: ["test", "pack"], // The tests of GPUs are packed, too.
    present: () => header("doctest/doctest.h"),
    packages: { apt: "doctest-dev", dnf: "doctest-devel", pacman: "doctest", apk: "doctest-dev" },
  },
  { name: "relacy", for: "test", present: () => header("relacy/relacy.hpp"), packages: { apt: "relacy-dev" } },
  { name: "clang-format 14", for: "test", present: () => onPath("clang-format-14"), packages: { apt: "clang-format-14" } },
  {
    name: "Chromium",
    for: "test",
    present: () => onPath("chromium") || onPath("google-chrome"),
    packages: { apt: "chromium", dnf: "chromium", pacman: "chromium", apk: "chromium" },
  },
  { name: "xz", for: "pack", present: () => onPath("xz"), packages: { apt: "xz-utils", dnf: "xz", pacman: "xz", apk: "xz" } },
  {
    name: "pkg-config",
    for: "test",
    present: () => onPath("pkg-config"),
    packages: { apt: "pkg-config", dnf: "pkgconf-pkg-config", pacman: "pkgconf", apk: "pkgconf" },
  },
  { name: "git", for: "test", present: () => onPath("git"), packages: { apt: "git", dnf: "git", pacman: "git", apk: "git" } },
  {
    name: "arm64 compiler",
    for: "test",
    present: () => !crossesToArm64 || onPath("aarch64-linux-gnu-g++"),
    packages: { apt: "g++-aarch64-linux-gnu" },
  },
  { name: "qemu", for: "test", present: () => !crossesToArm64 || onPath("qemu-aarch64-static"), packages: { apt: "qemu-user-static" } },
  {
    name: "OpenMPI",
    for: "bench",
    present: () => onPath("mpicxx") && onPath("mpirun"),
    packages: { apt: "libopenmpi-dev openmpi-bin", dnf: "openmpi-devel", pacman: "openmpi" },
  },
];

const managers = [
  { id: "apt", program: "apt-get", install: "apt-get install -y --no-install-recommends" },
  { id: "dnf", program: "dnf", install: "dnf install -y" },
  { id: "pacman", program: "pacman", install: "pacman -S --needed --noconfirm" },
  { id: "apk", program: "apk", install: "apk add" },
];

export const isRoot = () => process.getuid?.() === 0;

/** The command to type for these needs, or a sentence where this distribution isn't known. */
export function installCommand(missing) {
  const manager = managers.find(({ program }) => onPath(program));
  const names = manager && missing.flatMap(({ packages }) => packages[manager.id]?.split(" ") ?? []);
  if (!manager || names.length === 0) return `install ${missing.map(({ name }) => name).join(", ")}`;
  return `${isRoot() ? "" : "sudo "}${manager.install} ${names.join(" ")}`;
}

export async function missingNeeds(purposes) {
  const missing = [];
  for (const need of needs)
    if ([need.for].flat().some((purpose) => purposes.includes(purpose)) && !(await need.present())) missing.push(need);
  return missing;
}

/** Whether this process may install without asking: root, with apt. */
export const mayInstall = () => isRoot() && onPath("apt-get");

/** Installs with apt; when all at once doesn't work, one by one, so that a missing optional package costs only itself. */
export async function aptInstall(missing) {
  const options = { env: { DEBIAN_FRONTEND: "noninteractive" }, timeoutMs: 600_000, log: "apt" };
  const install = (names) =>
    run(["apt-get", "install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", ...names], options);
  await run(["apt-get", "update"], options);
  const names = missing.flatMap(({ packages }) => packages.apt.split(" "));
  if ((await install(names)).code === 0) return;
  for (const name of names) await install([name]);
}

/** Compiled with ninja where there is one; it starts faster than make and uses the cores by itself. */
export const cmakeGenerator = () => (onPath("ninja") ? ["-G", "Ninja"] : ["-G", "Unix Makefiles"]);
export { onPath };
