import { type ChildProcess, spawn } from "node:child_process";
import os from "node:os";
import { err } from "../terminal/colors.js";

export interface LaunchOptions {
  readonly ranks: number;
  readonly job: string;
  readonly keepGoing?: boolean;
}

// What the survivors have to say about a rank that failed is worth a moment.
const graceMs = 2_000;
const killMs = 5_000;
// The terminal was closed, too: the ranks would go on without anybody to end them.
const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Starts a program once a rank and waits for all. When one fails, the others are told to end, and after a while made to.
 * Signals that would end this process end them.
 * @returns the exit code: 0 where every process ended with it; 128 and its number after a signal.
 */
export async function launchProcesses(name: string, args: readonly string[], options: LaunchOptions): Promise<number> {
  const { ranks, job, keepGoing = false } = options;
  const [command, ...first] = name === "dfccl" ? [process.execPath, process.argv[1] ?? "dfccl"] : [name];
  const children: ChildProcess[] = [];
  const timers: NodeJS.Timeout[] = [];
  let interrupted: number | undefined;
  let failed = false;
  const endAll = (signal: NodeJS.Signals): void => {
    for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    interrupted ??= 128 + os.constants.signals[signal];
    endAll(signal);
    timers.push(setTimeout(endAll, killMs, "SIGKILL"));
  };
  const onFailure = (): void => {
    failed = true;
    if (keepGoing || timers.length > 0) return;
    timers.push(setTimeout(endAll, graceMs, "SIGTERM"), setTimeout(endAll, graceMs + killMs, "SIGKILL"));
  };
  for (const signal of endingSignals) process.on(signal, onSignal);
  const ends = Array.from({ length: ranks }, (_, rank) => {
    const env = { ...process.env, DFCCL_RANK: `${rank}`, DFCCL_WORLD_SIZE: `${ranks}`, DFCCL_JOB: job };
    const child = spawn(command ?? name, [...first, ...args], { env, stdio: [rank === 0 ? "inherit" : "ignore", "inherit", "inherit"] });
    children.push(child);
    return new Promise<void>((resolve) => {
      const end = (how: string | undefined): void => {
        if (how !== undefined && interrupted === undefined) {
          if (!failed) process.stderr.write(err.red(`Rank ${rank}${child.pid === undefined ? "" : ` (process ${child.pid})`} ${how}.\n`));
          onFailure();
        }
        resolve();
      };
      child.on("error", (error) =>
        end(`could not be started: ${error.message}. Look at the program's path, and whether it may be executed`),
      );
      child.on("close", (code, signal) =>
        end(signal === null ? (code === 0 ? undefined : `ended with ${code}`) : `was ended by ${signal} (${os.constants.signals[signal]})`),
      );
    });
  });
  await Promise.all(ends);
  for (const timer of timers) clearTimeout(timer);
  for (const signal of endingSignals) process.off(signal, onSignal);
  if (interrupted !== undefined) return interrupted;
  return failed ? 1 : 0;
}
