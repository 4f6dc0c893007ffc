import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { DfcclError } from "@dfccl/primitives";
import { currentPlatform, platformPackages } from "./platform.js";

/** One place where the addon was looked for, and why it wasn't taken from there. */
export interface AddonAttempt {
  readonly source: "DFCCL_ADDON" | "platform package" | "workspace build";
  /** The file or the package that was tried. */
  readonly location: string;
  readonly reason: string;
}

/** No addon could be loaded. `facts.attempts` lists every place in the order in which it was tried. */
export class AddonNotLoadedError extends DfcclError {
  override readonly code = "ADDON_NOT_LOADED";

  constructor(platform: string, attempts: readonly AddonAttempt[], remedy: string, cause: unknown) {
    const list = (): string => attempts.map(({ source, location, reason }) => `\n  - ${source} (${location}): ${reason}`).join("");
    super(() => `The native engine of dfccl can't be loaded on ${platform}, Node ${process.versions.node}. Tried:${list()}\n`, {
      facts: { platform, node: process.versions.node, attempts },
      remedy,
      cause,
    });
  }
}

/** Where to look; everything has a default, and tests replace it. */
export interface AddonLookup {
  readonly env?: NodeJS.ProcessEnv;
  /** Operating system, processor and C library as in the packages' names: `linux-x64-gnu`. */
  readonly platform?: string;
  /** A folder inside the workspace; its parents are searched for a build. */
  readonly from?: string;
  /** Loads a file or a package. Throws as `require` does. */
  readonly load?: (path: string) => unknown;
}

/**
 * Loads the native engine. The first of these that exists is taken:
 * 1. the file that the environment variable `DFCCL_ADDON` names. When that one fails nothing else is tried, because whoever
 *    sets it wants to know;
 * 2. the npm package of this platform: the one with the GPU engine, if you have installed it, else the optional dependency of
 *    `@dfccl/core`, which has the CPU's alone;
 * 3. `build/release/dfccl.node` of the workspace that this file lies in.
 * @returns What the addon exports; the caller knows its shape.
 * @throws {AddonNotLoadedError} listing every attempt and the remedy.
 */
export function loadAddon(lookup: AddonLookup = {}): unknown {
  const { env = process.env, platform = currentPlatform(), from = dirname(fileURLToPath(import.meta.url)) } = lookup;
  const load = lookup.load ?? createRequire(import.meta.url);
  const attempts: AddonAttempt[] = [];
  let cause: unknown;
  const attempt = (source: AddonAttempt["source"], location: string): { addon: unknown } | undefined => {
    try {
      return { addon: load(location) };
    } catch (error) {
      cause = error;
      attempts.push({ source, location, reason: explain(error, location) });
      return undefined;
    }
  };

  if (env.DFCCL_ADDON) {
    const location = resolve(env.DFCCL_ADDON);
    const named = attempt("DFCCL_ADDON", location);
    if (named) return named.addon;
    throw new AddonNotLoadedError(platform, attempts, "Correct DFCCL_ADDON, or unset it.", cause);
  }

  for (const name of platformPackages(platform)) {
    const packaged = attempt("platform package", name);
    if (packaged) return packaged.addon;
  }

  const build = findBuild(from);
  if (build === undefined) {
    attempts.push({ source: "workspace build", location: "build/release/dfccl.node", reason: `no folder above ${from} has it` });
  } else {
    const local = attempt("workspace build", build);
    if (local) return local.addon;
  }
  throw new AddonNotLoadedError(platform, attempts, remedyFor(platform), cause);
}

/** Platforms with a prebuilt package; `optionalDependencies` in package.json lists the same. */
const prebuilt: readonly string[] = ["linux-x64-gnu", "linux-arm64-gnu"];

function remedyFor(platform: string): string {
  const byHand = "build it in a clone of the repository (npm start) and set DFCCL_ADDON to its build/release/dfccl.node";
  return prebuilt.includes(platform)
    ? `Install again with optional dependencies: npm install --include=optional @dfccl/core. Or ${byHand}.`
    : `There is no prebuilt engine for ${platform}, only for ${prebuilt.join(", ")}: ${byHand}.`;
}

function explain(error: unknown, location: string): string {
  const { code, message } = error as Partial<NodeJS.ErrnoException>;
  if (code === "MODULE_NOT_FOUND" && message?.includes(`'${location}'`)) {
    return location.startsWith("@") ? "not installed" : "no such file";
  }
  return message?.split("\n")[0] ?? String(error);
}

function findBuild(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "build", "release", "dfccl.node");
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) return undefined;
  }
}
