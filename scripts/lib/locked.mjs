// One at a time in a build folder: two commands that are started at once would write the same files.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { onPath } from "./machine.mjs";
import { root } from "./paths.mjs";

/**
 * @param name - of what it writes: a preset ("release" is the one that `dfccl perf` builds in too), or "packages".
 * @returns the command that waits until no other holds that lock; the same command where flock is missing.
 */
export function locked(command, name) {
  if (!onPath("flock")) return command;
  const lock = join(root, "build", `${name}.lock`);
  mkdirSync(dirname(lock), { recursive: true });
  // --close: what the command leaves running in the background, such as turbo's daemon, doesn't keep the lock.
  return ["flock", "--close", lock, ...command];
}
