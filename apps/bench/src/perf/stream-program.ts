import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface Ended {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** The end of what it wrote to standard error. */
  readonly stderr: string;
}

const keptErrorBytes = 4096;

export interface RunningProgram {
  readonly ended: Promise<Ended>;
  /** A line for its standard input. */
  ask(line: string): void;
  /** Nothing more will be asked. */
  endInput(): void;
  /** Ends it, and all that it started, at once. */
  stop(): void;
}

/** Starts a program and hands on each line of its output as it comes. Ends all that it started when aborted. */
export function startProgram(
  command: string,
  args: readonly string[],
  onLine: (line: string) => void,
  signal?: AbortSignal,
): RunningProgram {
  // A group of its own, so that a stop reaches what mpirun has started too, and the terminal's Ctrl-C comes through us.
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], detached: true });
  const stop = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    } catch {
      // It has ended in this moment.
    }
  };
  // What it doesn't read any more is of no use: `ended` tells why.
  child.stdin.on("error", () => {});
  let stderr = "";
  const lines = createInterface({ input: child.stdout }).on("line", onLine);
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-keptErrorBytes);
  });
  signal?.addEventListener("abort", stop, { once: true });
  const linesRead = new Promise((done) => lines.once("close", done));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", (error) => {
      signal?.removeEventListener("abort", stop);
      reject(error);
    });
    child.on("close", async (code, killedBy) => {
      await linesRead;
      signal?.removeEventListener("abort", stop);
      if (signal?.aborted) reject(signal.reason);
      else resolve({ code, killedBy, stderr });
    });
  });
  return { ended, stop, ask: (line) => child.stdin.write(`${line}\n`), endInput: () => child.stdin.end() };
}

/** The same for a program that is asked nothing. */
export async function streamProgram(
  command: string,
  args: readonly string[],
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<Ended> {
  signal?.throwIfAborted();
  const program = startProgram(command, args, onLine, signal);
  program.endInput();
  return await program.ended;
}
