// Runs commands with a time limit, so that nothing can hang: the whole process group is killed when time is up.
import { spawn } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { root } from "./paths.mjs";

const alive = new Set();
const killGroup = (pid, signal) => {
  try {
    process.kill(-pid, signal);
  } catch {
    // It ended by itself.
  }
};
process.on("exit", () => {
  for (const pid of alive) killGroup(pid, "SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));

/**
 * @param command - program and arguments; never a shell line.
 * @param options.log - path under .cache/logs that gets everything printed.
 * @param options.show - also print as it comes.
 * @returns {code, output, seconds, timedOut}; a program that can't be started has code 127.
 */
export function run(command, { cwd = root, env = {}, timeoutMs = 600_000, log, show = false } = {}) {
  const started = performance.now();
  const [program, ...args] = command;
  const file = log && openLog(log);
  file?.write(`$ ${command.join(" ")}\n`);
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: { ...childEnvironment(), ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
    if (child.pid) alive.add(child.pid);
    let output = "";
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid, "SIGTERM");
      setTimeout(() => killGroup(child.pid, "SIGKILL"), 3_000).unref();
    }, timeoutMs);
    const take = (chunk) => {
      output += chunk;
      file?.write(chunk);
      if (show) process.stdout.write(chunk);
    };
    child.stdout?.setEncoding("utf8").on("data", take);
    child.stderr?.setEncoding("utf8").on("data", take);
    const finish = (code) => {
      clearTimeout(timer);
      if (child.pid) alive.delete(child.pid);
      if (timedOut) take(`\n(killed after ${timeoutMs / 1000} s)\n`);
      file?.end();
      resolve({ code: timedOut ? 124 : code, output, seconds: (performance.now() - started) / 1000, timedOut });
    };
    child.on("error", (error) => {
      take(`${error.message}\n`);
      finish(127);
    });
    child.on("close", (code, signal) => finish(code ?? (signal ? 128 : 1)));
  });
}

/** Hands the terminal to the command and returns its exit code; for the main job, which draws a progress bar. */
export function runInForeground(command, { cwd = root } = {}) {
  const [program, ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: childEnvironment(), stdio: "inherit" });
    child.on("error", () => resolve(127));
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/** Tools installed in the workspace come first, so that turbo finds this pnpm and no other is needed. */
function childEnvironment() {
  const { PATH = "" } = process.env;
  return {
    ...process.env,
    PATH: `${join(root, "node_modules", ".bin")}:${PATH}`,
    TURBO_TELEMETRY_DISABLED: "1",
    DO_NOT_TRACK: "1",
    npm_config_update_notifier: "false",
  };
}

function openLog(name) {
  const path = join(root, ".cache", "logs", `${name}.log`);
  mkdirSync(dirname(path), { recursive: true });
  return createWriteStream(path, { flags: "a" });
}

/** The last lines of what a command printed, indented, for a report. */
export const tail = (output, count = 40) =>
  stripVTControlCharacters(output)
    .trimEnd()
    .split("\n")
    .slice(-count)
    .map((text) => `      ${text}`)
    .join("\n");
