import { spawn } from "node:child_process";
import { BenchError } from "./bench-error.js";
import { endGroup, endWithUs } from "./end-with-us.js";

export interface ProgramRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** What {@link runProgram} does; tests put programs of their own in its place. */
export type RunProgram = (run: ProgramRun) => Promise<string>;

const keptErrorLines = 12;

/**
 * @returns what it wrote to its standard output.
 * @throws {BenchError} PROGRAM_FAILED with the end of what it wrote, where it can't start, fails, or takes too long.
 * @throws what `signal` was aborted with.
 */
export const runProgram: RunProgram = ({ command, args, cwd, env, timeoutMs = 600_000, signal }) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    // A group of its own, so that a stop reaches what mpirun has started too, and the terminal's Ctrl-C comes through us.
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    endWithUs(child);
    const stop = (): void => endGroup(child);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      stop();
    }, timeoutMs);
    signal?.addEventListener("abort", stop, { once: true });
    const fail = (problem: string): void => {
      const end = `${stdout}${stderr}`.trimEnd().split("\n").slice(-keptErrorLines).join("\n");
      reject(
        new BenchError("PROGRAM_FAILED", `${[command, ...args].join(" ")} ${problem}.${end ? `\n${end}\n` : ""}`, "See what it wrote.", {
          command: [command, ...args],
          output: end,
        }),
      );
    };
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
    child.on("error", (error) => {
      end();
      fail(`can't be started (${error.message})`);
    });
    child.on("close", (code, killedBy) => {
      end();
      if (signal?.aborted) reject(signal.reason);
      else if (isLate) fail(`did not end within ${timeoutMs / 1000} s`);
      else if (code !== 0) fail(`ended with ${code ?? killedBy}`);
      else resolve(stdout);
    });
  });

/** The objects among a program's lines; other lines are for people. */
export function jsonLines(output: string): Readonly<Record<string, unknown>>[] {
  return output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
