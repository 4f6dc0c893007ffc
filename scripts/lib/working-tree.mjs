// What git sees of the working tree, so that tests which leave something there are noticed.
import { realpathSync } from "node:fs";
import { root } from "./paths.mjs";
import { run } from "./run.mjs";

/** Ignored places that commands fill on purpose. In any other one, a test's leavings would be out of sight. */
const made = [
  /(^|\/)node_modules\/$/,
  /(^|\/)\.turbo\/$/,
  /\.tsbuildinfo$/,
  /^(packages|apps)\/[\w-]+\/dist\/$/,
  /^packages\/native-[\w-]+\/(bin\/|dfccl\.node)$/,
  /^(\.cache|build)\/$/,
];

/**
 * @returns {entries}: a line for each file that is changed or unknown to git, and for each that git ignores in a place where nothing is
 *   made on purpose, as `git status --porcelain` prints it; or {obstacle}: why git can't say, such as in an unpacked archive.
 */
export async function readWorkingTree(folder = root) {
  const git = (...args) => run(["git", ...args], { cwd: folder, timeoutMs: 60_000 });
  const top = await git("rev-parse", "--show-toplevel");
  if (top.code !== 0) return { obstacle: `not a git checkout (${top.output.trim()})` };
  // An archive may be unpacked within some other project's checkout.
  if (top.output.trim() !== realpathSync(folder)) return { obstacle: `not a git checkout, but within that of ${top.output.trim()}` };
  const status = await git("status", "--porcelain", "--untracked-files=all", "--ignored=matching");
  if (status.code !== 0) return { obstacle: `git status failed (${status.output.trim()})` };
  const isMade = (line) => line.startsWith("!! ") && made.some((place) => place.test(line.slice("!! ".length)));
  return { entries: status.output.split("\n").filter((line) => line !== "" && !isMade(line)) };
}

/** What came into the tree from one reading to the next. */
export const entriesSince = (before, after) => after.entries.filter((line) => !before.entries.includes(line));
