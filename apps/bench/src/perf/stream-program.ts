import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface Ended {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** The end of what it wrote to standard error. */
  readonly stderr: string;
}

const keptErrorBytes = 4096;

/** Runs a program and hands on each line of its output as it comes; "" for its input. Ends all that it started when aborted. */
export function streamProgram(
  command: string,
  args: readonly string[],
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    // A group of its own, so that a stop reaches what mpirun has started too, and the terminal's Ctrl-C comes through us.
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    let stderr = "";
    const lines = createInterface({ input: child.stdout }).on("line", onLine);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-keptErrorBytes);
    });
    const stop = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      } catch {
        // It has ended in this moment.
      }
    };
    signal?.addEventListener("abort", stop, { once: true });
    child.on("error", (error) => {
      signal?.removeEventListener("abort", stop);
      reject(error);
    });
    const linesRead = new Promise((done) => lines.once("close", done));
    child.on("close", async (code, killedBy) => {
      await linesRead;
      signal?.removeEventListener("abort", stop);
      if (signal?.aborted) reject(signal.reason);
      else resolve({ code, killedBy, stderr });
    });
  });
}
