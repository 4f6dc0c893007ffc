import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What the watcher is told by a launcher that ends by itself. */
export const launchIsDone = "done";

// Beside the command's own file, whatever that is called.
const files = ["./launch-watcher.js", "./launch-watcher.mjs"].map((name) => fileURLToPath(new URL(name, import.meta.url)));

/**
 * Starts a process that ends a launch's ranks where the launcher is killed: of SIGKILL it learns nothing itself, and ranks may be any
 * program. Without /proc there is none.
 * @param mark - that the ranks' environment carries.
 */
export function watchLaunch(mark: string): Disposable {
  const file = files.find((path) => existsSync(path));
  if (file === undefined || !existsSync("/proc/self/environ")) return { [Symbol.dispose]: () => undefined };
  // A session of its own: what the terminal, or a kill of our group, ends is not to end it. An empty environment: it has no mark.
  const child = spawn(process.execPath, [file, mark], { stdio: ["pipe", "ignore", "ignore"], detached: true, env: {} });
  // Where there is no process left to be had, the launch goes on without.
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  child.unref();
  return { [Symbol.dispose]: () => child.stdin.end(launchIsDone) };
}
