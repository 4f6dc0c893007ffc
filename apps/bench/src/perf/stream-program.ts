import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { PerfError } from "@dfccl/collective-tests";
import { endGroup, endWithUs } from "../peers/end-with-us.js";

export interface Ended {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** The end of what it wrote to standard error. */
  readonly stderr: string;
}

const keptErrorBytes = 4096;

export interface ProgramToStart {
  readonly command: string;
  readonly args: readonly string[];
  /** That it inherits, from number 3 on. */
  readonly descriptors: readonly number[];
}

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
  { command, args, descriptors }: ProgramToStart,
  onLine: (line: string) => void,
  signal?: AbortSignal,
): RunningProgram {
  // A group of its own, so that a stop reaches what mpirun has started too, and the terminal's Ctrl-C comes through us.
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe", ...descriptors],
    detached: true,
  }) as ChildProcessWithoutNullStreams; // the types only know it of exactly three
  endWithUs(child);
  const stop = (): void => endGroup(child);
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
      const remedy = "Look whether it is there, and may be executed.";
      reject(new PerfError("BACKEND_FAILED", `${command} can't be started (${error.message}).`, remedy, { command }));
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
export async function streamProgram(program: ProgramToStart, onLine: (line: string) => void, signal?: AbortSignal): Promise<Ended> {
  signal?.throwIfAborted();
  const running = startProgram(program, onLine, signal);
  running.endInput();
  return await running.ended;
}
