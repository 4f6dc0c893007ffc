import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { type ScheduleName, scheduleNames } from "@dfccl/actor";
import { openWorld, type WorldOptions } from "@dfccl/core";
import { checkInteger, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import { InterruptedError, RankLostError } from "../errors.js";
import { checkCallback, checkSignal, readOptions } from "../read-options.js";
import { workerFile } from "../shipped-file.js";
import { maxChannels, type RankMessage, type RankStart } from "../wire.js";
import { Conductor } from "./conductor.js";
import { startThread } from "./start-thread.js";

export interface RunRanksOptions {
  /** Number of ranks, each a thread of its own. */
  readonly ranks: number;
  /** A module whose default export, `(communicator, args) => result`, is what each rank does. May be TypeScript where tsx is installed. */
  readonly program: URL | string;
  /** For each rank's program, the same for all. Must be something that threads can exchange, as the results must. */
  readonly args?: unknown;
  /** What gives gradients their order. Default "preemptive": nothing does. */
  readonly schedule?: ScheduleName;
  /** How the engine schedules collectives. Default "priority"; "in-order" never preempts, and shows what happens then. */
  readonly policy?: WorldOptions["policy"];
  /** What ranks report, in each rank's order. What it throws ends the run. */
  readonly onReport?: (rank: number, value: unknown) => void;
  /** Stops the ranks; the call ends with an {@link InterruptedError}. */
  readonly signal?: AbortSignal | undefined;
}

const optionNames: OptionNames<RunRanksOptions> = {
  ranks: true,
  program: true,
  args: true,
  schedule: true,
  policy: true,
  onReport: true,
  signal: true,
};

/**
 * Runs a program on each of some ranks, in threads of their own, and carries their collectives out: this thread's engine
 * reduces while the ranks compute.
 * @returns what the ranks' programs returned, by rank.
 * @throws {InvalidArgumentError}, {UnknownOptionError} before anything starts; {RankLostError} naming the rank that failed first; the others are stopped. `DeadlockError` under "in-order".
 */
export async function runRanks(options: RunRanksOptions): Promise<unknown[]> {
  const read = readOptions(options, optionNames, "an object such as { ranks: 2, program: import.meta.url }");
  const { ranks, args, schedule = "preemptive", policy = "priority", onReport, signal } = read;
  checkInteger("ranks", ranks, 1, 256);
  if (!scheduleNames.includes(schedule)) throw new InvalidArgumentError("schedule", schedule, `one of ${scheduleNames.join(", ")}`);
  checkCallback("onReport", onReport);
  checkSignal(signal);
  checkExchangeable(args);
  const program = urlOf(read.program);
  using world = openWorld({ ranks, policy, workers: Math.max(1, availableParallelism() - ranks) });
  let fail: (failure: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const interrupt = (): void => fail(new InterruptedError());
  signal?.addEventListener("abort", interrupt);
  if (signal?.aborted) interrupt();
  const conductor = new Conductor(schedule, fail);
  const threads: Worker[] = [];
  try {
    const results = world.ranks.map((rank) => {
      const completed = new Int32Array(new SharedArrayBuffer(4 * maxChannels));
      const start: RankStart = { rank: rank.number, ranks, program: program.href, args, completed };
      const thread = startThread(workerFile("rank-thread"), start, program);
      threads.push(thread);
      const handle = conductor.add(rank, completed);
      return resultOf(thread, rank.number, (message) => {
        try {
          if (typeof message === "object" && message.kind === "report") onReport?.(rank.number, message.value);
          else handle(message);
        } catch (failure) {
          fail(failure); // thrown out of here, it would end the process, and nobody would stop the ranks
        }
      });
    });
    return await Promise.race([Promise.all(results), failed]);
  } finally {
    signal?.removeEventListener("abort", interrupt);
    conductor.stop();
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

// What a thread of Node's loads modules from.
const protocols = ["file:", "data:", "node:"];

/** Where a module lies: any other text would be looked for when its thread has started, from where nobody knows. */
function urlOf(program: URL | string): URL {
  try {
    if (typeof program === "string" || program instanceof URL) {
      const url = new URL(program);
      if (protocols.includes(url.protocol)) return url;
    }
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError("program", program, "the URL of a module on this machine, such as import.meta.url");
}

/** A thread that can't be given its arguments would never start. */
function checkExchangeable(args: unknown): void {
  try {
    structuredClone(args);
  } catch {
    throw new InvalidArgumentError("args", args, "what threads can exchange: no functions, no symbols");
  }
}

function resultOf(thread: Worker, rank: number, onMessage: (message: RankMessage) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    thread.on("message", (message: RankMessage) => {
      if (typeof message === "object" && message.kind === "result") resolve(message.value);
      else onMessage(message);
    });
    thread.on("error", (cause) =>
      reject(new RankLostError(rank, `failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })),
    );
    thread.on("exit", (code) => reject(new RankLostError(rank, `ended with exit code ${code} before its program did`)));
  });
}
