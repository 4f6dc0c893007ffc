import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ChildOptions {
  readonly nodeOptions?: readonly string[];
  readonly args?: readonly string[];
  /** Called with each line that the child prints. */
  readonly onLine?: (line: string, child: ChildProcess) => void;
}

// A child that hangs is killed before the test gives up, so that none is left behind.
const patienceMs = 100_000;
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/**
 * Runs a TypeScript file in a Node process of its own: a test runner's processes would hide how a program ends.
 * `DFCCL_TEST_PRELOAD` names a library to be loaded first, such as a sanitizer's (scripts/lifecycle-asan.mjs).
 */
export function runChild(file: URL, { nodeOptions = [], args = [], onLine }: ChildOptions = {}): Promise<ChildEnd> {
  const preload = process.env.DFCCL_TEST_PRELOAD;
  const child = spawn(process.execPath, [...nodeOptions, "--import", tsx, fileURLToPath(file), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS: "", ...(preload ? { LD_PRELOAD: preload } : {}) },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${stdout.slice(stdout.lastIndexOf("\n") + 1)}${text}`.split("\n").slice(0, -1);
    stdout += text;
    for (const line of lines) onLine?.(line, child);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr });
    });
  });
}
