// The engine for Linux on arm64 on a machine that is none: a cross compiler builds it, an emulator runs it.
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addonSymbols } from "../checks/addon-symbols.mjs";
import { configureCommand } from "../setup.mjs";
import { locked } from "./locked.mjs";
import { onPath } from "./machine.mjs";
import { nodeFor } from "./node-versions.mjs";
import { root } from "./paths.mjs";
import { run } from "./run.mjs";

const preset = "linux-arm64-gnu";
export const arm64Package = join(root, "packages", `native-${preset}`);
// With the C library that the cross compiler brought.
const sysroot = "/usr/aarch64-linux-gnu";
const emulator = ["qemu-aarch64-static", "-L", sysroot];

/** What is missing for it here, in words; undefined: nothing. */
export function whyNoArm64() {
  if (process.arch === "arm64") return "this machine needs neither a cross compiler nor an emulator for it";
  const missing = ["aarch64-linux-gnu-g++", emulator[0]].filter((program) => !onPath(program));
  // Some distributions' cross compilers have no C library beside them.
  if (!existsSync(join(sysroot, "lib", "ld-linux-aarch64.so.1"))) missing.push(`a C library in ${sysroot}`);
  return missing.length === 0 ? undefined : `${missing.join(" and ")} missing: apt-get install g++-aarch64-linux-gnu qemu-user-static`;
}

/**
 * Compiles it into its package.
 * @param options.inBackground - beside other tests: one job, which yields to whatever else wants to run.
 * @throws {Error} with what the compiler printed.
 */
export async function buildArm64({ inBackground = false } = {}) {
  const build = ["cmake", "--build", "--preset", preset, "--target", "dfccl_product", "-j", inBackground ? "1" : "2"];
  for (const plain of [configureCommand(preset), build]) {
    const command = inBackground ? ["nice", "-n", "19", ...plain] : plain;
    const { code, output } = await run(locked(command, preset), { cwd: join(root, "native"), timeoutMs: 1_800_000, log: "arm64" });
    if (code !== 0) throw new Error(`${plain.join(" ")} ended with ${code}\n${output}`);
  }
}

/** @throws {Error} naming each symbol of what was built that glibc 2.28 lacks. */
export async function checkArm64Symbols() {
  const { failed, skipped, details } = await addonSymbols([join(arm64Package, "dfccl.node"), join(arm64Package, "bin", "perf_bench")]);
  if (failed || skipped) throw new Error(details);
}

/**
 * A command that runs Node of that processor, and what it needs in its environment to start the engine's programs: a process of the
 * emulator can't start another of its kind by itself, so a script of this machine's does.
 * @param folder - where that script may lie. @param installed - the package's folder.
 */
export async function arm64Node(folder, installed) {
  mkdirSync(join(folder, "bench"), { recursive: true });
  symlinkSync(join(installed, "dfccl.node"), join(folder, "dfccl.node"));
  const script = join(folder, "bench", "perf_bench");
  writeFileSync(script, `#!/bin/sh\nexec ${emulator.join(" ")} ${join(installed, "bin", "perf_bench")} "$@"\n`);
  chmodSync(script, 0o755);
  return { command: [...emulator, await nodeFor("arm64")], env: { DFCCL_ADDON: join(folder, "dfccl.node") } };
}
