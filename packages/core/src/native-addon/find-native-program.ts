import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { currentPlatform, platformPackages } from "./platform.js";

/** Where to look; everything has a default, and tests replace it. */
export interface ProgramLookup {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** As in the packages' names: `linux-x64-gnu`. */
  readonly platform?: string;
  /** The file that a package's path leads to. Throws as `require.resolve` does. */
  readonly find?: (path: string) => string;
}

/**
 * Finds a program that comes with the engine, where the engine itself is found: beside the build that `DFCCL_ADDON` names, or else
 * in the npm package of this platform.
 * @param name - such as `perf_bench`.
 * @returns its path; undefined where nothing that is installed has it.
 */
export function findNativeProgram(name: string, lookup: ProgramLookup = {}): string | undefined {
  const { env = process.env, platform = currentPlatform() } = lookup;
  const find = lookup.find ?? createRequire(import.meta.url).resolve;
  const named = env.DFCCL_ADDON ? [join(dirname(resolve(env.DFCCL_ADDON)), "bench", name)] : [];
  const packaged = platformPackages(platform).flatMap((packageName) => {
    try {
      return [join(dirname(find(`${packageName}/package.json`)), "bin", name)];
    } catch {
      return [];
    }
  });
  return [...named, ...packaged].find((path) => existsSync(path));
}
