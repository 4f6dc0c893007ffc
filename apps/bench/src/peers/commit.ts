import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What scripts/write-build.mjs leaves in a package that is packed. */
export interface Build {
  readonly commit: string;
  /** ISO 8601. */
  readonly date: string;
}

/** Of the package that this file lies in; undefined in a clone. */
export function packedBuild(): Build | undefined {
  const path = fileURLToPath(new URL("./build.json", import.meta.url));
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Build) : undefined;
}

/**
 * The commit that this was built from: what DFCCL_COMMIT says, which a packed folder sets, as it may be run inside of some other
 * clone; else the clone's, with "+" where files have changed since; else the published package's.
 * @param root - of the clone, if this is one.
 */
export function commitOf(root: string | undefined): string | undefined {
  return process.env.DFCCL_COMMIT ?? (root === undefined ? packedBuild()?.commit : commitOfClone(root));
}

function commitOfClone(root: string): string | undefined {
  const git = (...args: string[]): string | undefined => {
    const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  const commit = git("rev-parse", "--short", "HEAD");
  if (commit === undefined) return undefined;
  return git("status", "--porcelain", "--untracked-files=no") === "" ? commit : `${commit}+`;
}
