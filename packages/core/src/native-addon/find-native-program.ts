import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { checkFunction, checkObject, checkOptions, checkPath, checkText, type OptionNames, readArgument } from "@dfccl/primitives";
import { currentPlatform, platformPackages } from "./platform.js";

/** Where to look; everything has a default, and tests replace it. */
export interface ProgramLookup {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** As in the packages' names: `linux-x64-gnu`. */
  readonly platform?: string;
  /** The file that a package's path leads to. Throws as `require.resolve` does. */
  readonly find?: (path: string) => string;
}

const lookupNames: OptionNames<ProgramLookup> = { env: true, platform: true, find: true };

/**
 * Finds a program that comes with the engine, where the engine itself is found: beside the build that `DFCCL_ADDON` names, or else
 * in the npm package of this platform.
 * @param name - such as `perf_bench`.
 * @returns its path; undefined where nothing that is installed has it.
 * @throws {InvalidArgumentError}
 */
export function findNativeProgram(name: string, lookup: ProgramLookup = {}): string | undefined {
  checkPath("name", name, "perf_bench");
  checkOptions<ProgramLookup>("lookup", lookup, lookupNames, 'an object such as { platform: "linux-x64-gnu" }');
  const { env = process.env, platform = currentPlatform(), find = createRequire(import.meta.url).resolve } = lookup;
  checkObject("lookup.env", env, "variables, such as process.env");
  checkText("lookup.platform", platform, 'a platform such as "linux-x64-gnu"');
  checkFunction("lookup.find", find, "a function such as require.resolve");
  const addon = readArgument("lookup.env", "variables, such as process.env", () => env.DFCCL_ADDON);
  if (addon) checkPath("lookup.env.DFCCL_ADDON", addon, "/opt/dfccl/dfccl.node");
  const named = addon ? [join(dirname(resolve(addon)), "bench", name)] : [];
  const packaged = platformPackages(platform).flatMap((packageName) => {
    try {
      return [join(dirname(find(`${packageName}/package.json`)), "bin", name)];
    } catch {
      return [];
    }
  });
  return [...named, ...packaged].find((path) => existsSync(path));
}
