// Starts what is tried as processes of their own, in a folder of their own.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stacksOf } from "./stacks.mjs";

/** A new empty folder that is also the process's home, for temporary files and for settings. */
export async function inFolder(act) {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-fuzz-"));
  try {
    const env = { ...process.env, HOME: folder, TMPDIR: folder, XDG_CONFIG_HOME: join(folder, "config"), NO_COLOR: "1" };
    mkdirSync(join(folder, "place"));
    return await act(join(folder, "place"), env);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a program to its end. What works for long is told to stop after a while, which is right; what doesn't then is killed. One that
 * has to end by itself (interruptAfterMs: 0) is only killed.
 * @returns {code, signal, stdout, stderr, isInterrupted, stacks?}; signal is "a hang" for what had to be killed.
 */
export function end(command, { cwd, env, interruptAfterMs = 5_000, killAfterMs = 60_000, onStart = () => {} }) {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const ended = { stdout: "", stderr: "", isInterrupted: false };
  for (const stream of ["stdout", "stderr"]) child[stream].setEncoding("utf8").on("data", (text) => (ended[stream] += text));
  let isHanging = false;
  const interruption =
    interruptAfterMs &&
    setTimeout(() => {
      ended.isInterrupted = true;
      child.kill("SIGINT");
    }, interruptAfterMs);
  const killing = setTimeout(() => {
    isHanging = true;
    ended.stacks = stacksOf(child.pid);
    process.kill(-child.pid, "SIGKILL");
  }, interruptAfterMs + killAfterMs);
  onStart(child);
  return new Promise((resolve) => {
    const finish = (code, signal) => {
      clearTimeout(interruption);
      clearTimeout(killing);
      resolve({ ...ended, code, signal: isHanging ? "a hang" : ended.isInterrupted && signal === "SIGINT" ? null : signal });
    };
    child.on("error", (error) => {
      ended.stderr += error.message;
      finish(127, null);
    });
    child.on("close", finish);
  });
}
