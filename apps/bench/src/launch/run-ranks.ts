import { type ChildProcess, spawn } from "node:child_process";
import os from "node:os";
import type { Readable, Writable } from "node:stream";
import { err } from "../terminal/colors.js";
import { graceMs, killMs } from "./ending-times.js";
import type { RemoteCommand } from "./hosts.js";
import { markName } from "./marked-processes.js";
import { prefixLines } from "./prefix-lines.js";

export interface RanksOptions {
  readonly ranks: number;
  readonly job: string;
  readonly keepGoing?: boolean;
  /** Whether each line of output begins with its rank. */
  readonly prefix?: boolean;
  readonly mark: string;
  /** What starts a rank on another machine. */
  readonly remote?: (rank: number, command: readonly string[], env: object) => RemoteCommand;
  /** How often all of them have been started before. */
  readonly restart: number;
}

/** How a world ended: well, because a rank failed, or before one was there. */
export type RanksEnd = "completed" | "failed" | "not started";

/** A world of processes that runs. */
export interface RunningRanks {
  readonly ended: Promise<RanksEnd>;
  /** Hands a signal on, and makes those end that don't. What ends then is no failure. */
  end(signal: NodeJS.Signals): void;
}

/** Starts a program once a rank. When one fails, the others are told to end, and after a while made to. */
export function runRanks(command: string, args: readonly string[], options: RanksOptions): RunningRanks {
  const { ranks, job, keepGoing = false, prefix = false, mark, remote, restart } = options;
  const children: ChildProcess[] = [];
  const timers: NodeJS.Timeout[] = [];
  let isEnding = false;
  let outcome: RanksEnd = "completed";
  const endAll = (signal: NodeJS.Signals): void => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      // Of a rank elsewhere the end of its input is what it is told by; its connection has its time to hand that on.
      if (remote !== undefined && signal !== "SIGKILL") child.stdin?.end();
      else child.kill(signal);
    }
  };
  const onFailure = (): void => {
    if (keepGoing || timers.length > 0) return;
    timers.push(setTimeout(endAll, graceMs, "SIGTERM"), setTimeout(endAll, graceMs + killMs, "SIGKILL"));
  };
  const ends = Array.from({ length: ranks }, (_, rank) => {
    const own = {
      DFCCL_RANK: `${rank}`,
      DFCCL_WORLD_SIZE: `${ranks}`,
      DFCCL_JOB: job,
      DFCCL_RESTART: `${restart}`,
    };
    const env = { ...process.env, ...own, [markName]: mark };
    const output = prefix ? "pipe" : "inherit";
    const elsewhere = remote?.(rank, [command, ...args], own);
    const input = elsewhere !== undefined ? "pipe" : rank === 0 ? "inherit" : "ignore";
    const end = (pid: number | undefined, how: string | undefined, what: RanksEnd = "failed"): void => {
      if (how === undefined || isEnding) return;
      const where = elsewhere === undefined ? "" : ` on ${elsewhere.host}`;
      const who = `Rank ${rank}${where}${pid === undefined ? "" : ` (process ${pid})`}`;
      if (outcome === "completed") process.stderr.write(err.red(`${who} ${how}.\n`));
      if (outcome !== "not started") outcome = what;
      onFailure();
    };
    const notStarted = (why: string): void =>
      end(undefined, `could not be started: ${why}. Look at the program's path, and whether it may be executed`, "not started");
    let child: ChildProcess;
    try {
      child = spawn(elsewhere?.command ?? command, elsewhere?.args ?? args, { env, stdio: [input, output, output] });
    } catch (error) {
      // What is too long for the system.
      notStarted((error as Error).message);
      return Promise.resolve();
    }
    child.stdin?.on("error", () => undefined);
    child.stdin?.write(`${elsewhere?.firstLine}\n`);
    children.push(child);
    const shown = [show(child.stdout, process.stdout, rank), show(child.stderr, process.stderr, rank)];
    return new Promise<void>((resolve) => {
      child.on("error", (error) => {
        notStarted(error.message);
        resolve();
      });
      child.on("exit", async (code, signal) => {
        // What it has left running may hold its output open for ever.
        await within(graceMs, Promise.all(shown));
        const unreached =
          elsewhere !== undefined && code === 255
            ? `. That is what ssh gives where it can't reach a machine: try ${elsewhere.command} ${elsewhere.host} true`
            : "";
        end(
          child.pid,
          signal === null
            ? code === 0
              ? undefined
              : `ended with ${code}${unreached}`
            : `was ended by ${signal} (${os.constants.signals[signal]})`,
        );
        resolve();
      });
    });
  });
  const ended = Promise.all(ends).then(() => {
    for (const timer of timers) clearTimeout(timer);
    return outcome;
  });
  return {
    ended,
    end: (signal) => {
      isEnding = true;
      endAll(signal);
      timers.push(setTimeout(endAll, killMs, "SIGKILL"));
    },
  };
}

/** Writes the lines of a rank, its number before each. Resolves at their end. */
function show(from: Readable | null, to: Writable, rank: number): Promise<void> {
  if (from === null) return Promise.resolve();
  const lines = from.pipe(prefixLines(`[${rank}] `));
  lines.pipe(to, { end: false });
  return new Promise((resolve) => lines.once("end", resolve));
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
