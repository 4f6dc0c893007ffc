import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import type { ScheduleName } from "@dfccl/actor";
import { openWorld, type WorldOptions } from "@dfccl/core";
import { InvalidArgumentError } from "@dfccl/primitives";
import { InterruptedError, RankLostError } from "../errors.js";
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
  /** What ranks report, in each rank's order. */
  readonly onReport?: (rank: number, value: unknown) => void;
  /** Stops the ranks; the call ends with an {@link InterruptedError}. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program on each of some ranks, in threads of their own, and carries their collectives out: this thread's engine
 * reduces while the ranks compute.
 * @returns what the ranks' programs returned, by rank.
 * @throws {RankLostError} naming the rank that failed first; the others are stopped. {@link DeadlockError} under "in-order".
 */
export async function runRanks(options: RunRanksOptions): Promise<unknown[]> {
  const { ranks, program, args, schedule = "preemptive", policy = "priority", onReport, signal } = options;
  if (!Number.isInteger(ranks) || ranks < 1 || ranks > 256) throw new InvalidArgumentError("ranks", ranks, "a whole number from 1 to 256");
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
      const start: RankStart = { rank: rank.number, ranks, program: String(program), args, completed };
      const thread = startThread(workerFile("rank-thread"), start, new URL(program));
      threads.push(thread);
      const handle = conductor.add(rank, completed);
      return resultOf(thread, rank.number, (message) => {
        if (typeof message === "object" && message.kind === "report") onReport?.(rank.number, message.value);
        else handle(message);
      });
    });
    return await Promise.race([Promise.all(results), failed]);
  } finally {
    signal?.removeEventListener("abort", interrupt);
    conductor.stop();
    await Promise.all(threads.map((thread) => thread.terminate()));
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
