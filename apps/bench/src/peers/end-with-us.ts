import type { ChildProcess } from "node:child_process";
import { undoAtExit } from "../terminal/undo-at-exit.js";

/** Tells a process that leads a group, and all that it has started, to end. */
export function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended in this moment.
  }
}

/** Ends a group where this process ends before it, however that comes about. */
export function endWithUs(child: ChildProcess): void {
  const end = undoAtExit(() => {
    if (child.exitCode === null && child.signalCode === null) endGroup(child);
  });
  child.once("exit", () => end[Symbol.dispose]());
  child.once("error", () => end[Symbol.dispose]());
}
