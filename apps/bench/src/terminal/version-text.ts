import { commitOf, packedBuild } from "../peers/commit.js";
import { findRoot } from "../peers/native-programs.js";

/** What --version prints: the version alone in the first line, for scripts, and then what it was built from, and where it runs. */
export function versionText(version: string): string {
  const root = findRoot();
  const build = root === undefined ? packedBuild() : undefined;
  const from = root === undefined ? `packed ${build?.date.slice(0, 10) ?? "at an unknown time"}` : `clone ${root}`;
  return `${version}\ncommit ${commitOf(root) ?? "unknown"}, ${from}, ${process.platform}-${process.arch}, Node ${process.versions.node}\n`;
}
