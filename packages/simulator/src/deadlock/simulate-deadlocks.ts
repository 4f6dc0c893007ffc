import { checkFunction, checkInteger, checkMethod, checkOptions, type OptionNames } from "@dfccl/primitives";
import { type ChunkRunner, startRunner } from "./chunk-runner.js";
import { type DeadlockConfig, gpusOf, groupsOf, parseDeadlockConfig, submissionsOf } from "./config.js";
import { mostRounds } from "./find-deadlock.js";
import { confidenceInterval } from "./interval.js";
import { addTallies, emptyTallies, type ReplayTallies } from "./replay-deadlock.js";
import { addWholeReplays, type Chunk, type ChunkResult, emptyWholeReplays, type WholeReplays } from "./simulate-chunk.js";

export interface DeadlockOptions {
  /** The paper has 32,000. */
  readonly rounds: number;
  readonly seed: number;
  /** Threads; 0: in this one. All cores if not given. The result doesn't depend on it. */
  readonly workers?: number;
  /** Rounds, from the first, in which to count what the public code's shortcut reports; synchronization model only. */
  readonly shortcutRounds?: number;
  /** Deadlocked rounds of which to run what leads to the deadlock again on daemons that preempt, at most. */
  readonly replays?: number;
  /** Rounds to run again with everything that the GPUs do, at most: so many that deadlocked, and so many that didn't. */
  readonly wholeReplays?: number;
  /** Stops between chunks; what is finished by then is the result. */
  readonly signal?: AbortSignal;
  /** @param share - of the work, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

export const deadlockOptionNames: OptionNames<DeadlockOptions> = {
  rounds: true,
  seed: true,
  workers: true,
  shortcutRounds: true,
  replays: true,
  wholeReplays: true,
  signal: true,
  onProgress: true,
};

export interface RatioEstimate {
  readonly rounds: number;
  readonly deadlocks: number;
  readonly ratio: number;
  /** Of the ratio, 95%. */
  readonly interval: readonly [number, number];
}

export interface DeadlockResult extends RatioEstimate {
  readonly config: DeadlockConfig;
  readonly seed: number;
  readonly gpus: number;
  readonly groups: number;
  /** Of one round. */
  readonly submissions: number;
  readonly firstDeadlock?: number;
  readonly shortcut?: RatioEstimate;
  readonly replays: ReplayTallies;
  readonly whole: WholeReplays;
  /** Interrupted before all rounds were done. */
  readonly partial: boolean;
}

const mostWorkers = 1024;
// Small enough that an interruption is answered at once and cores finish together; the shortcut's rounds take longer each.
const chunkSubmissions = 40_000_000;
const shortcutChunkSubmissions = 2_000_000;

/**
 * Simulates rounds and counts those that deadlock.
 * @param config - checked here, before any work.
 * @throws {SimulationConfigError} where the configuration isn't valid.
 * @throws {InvalidArgumentError} where an option isn't.
 * @see DFCCL, section 2.4
 */
export async function simulateDeadlocks(config: DeadlockConfig, options: DeadlockOptions): Promise<DeadlockResult> {
  checkOptions("options", options, deadlockOptionNames, "an object such as { rounds: 1000, seed: 1 }");
  checkDeadlockOptions(options);
  await using runner = startRunner(options.workers);
  return await simulateOn(runner, config, options);
}

/** @throws {InvalidArgumentError} */
export function checkDeadlockOptions(options: DeadlockOptions): void {
  checkInteger("rounds", options.rounds, 1, mostRounds);
  checkInteger("seed", options.seed, 0, mostRounds);
  if (options.workers !== undefined) checkInteger("workers", options.workers, 0, mostWorkers);
  for (const name of ["shortcutRounds", "replays", "wholeReplays"] as const) {
    if (options[name] !== undefined) checkInteger(name, options[name], 0, mostRounds);
  }
  if (options.signal !== undefined) checkMethod("signal", options.signal, "addEventListener", "the signal of an AbortController");
  if (options.onProgress !== undefined) checkFunction("onProgress", options.onProgress, "a function of the share that is done");
}

/** The same, on threads that are there already. */
export async function simulateOn(runner: ChunkRunner, config: DeadlockConfig, options: DeadlockOptions): Promise<DeadlockResult> {
  const checked = parseDeadlockConfig(config);
  checkDeadlockOptions(options);
  const { rounds, seed, replays = 0, wholeReplays = 0 } = options;
  const shortcutRounds = checked.model === "synchronization" ? Math.min(options.shortcutRounds ?? 0, rounds) : 0;
  const common = { config: checked, seed };
  const none = { replays: 0, named: 0, hasControls: false };
  const chunks: Chunk[] = [
    ...divide(rounds, submissionsOf(checked), chunkSubmissions).map(
      ([from, to]): Chunk => ({
        ...common,
        ...none,
        from,
        to,
        task: "cycle",
        replays: replaysOf(from, to, rounds, replays),
        named: Math.max(wholeReplays, 1),
      }),
    ),
    ...divide(shortcutRounds, submissionsOf(checked), shortcutChunkSubmissions).map(
      ([from, to]): Chunk => ({ ...common, ...none, from, to, task: "intersection" }),
    ),
  ];

  const [cycle, shortcut] = [new Sum(), new Sum()];
  const progress = new Progress(rounds + shortcutRounds, wholeReplays > 0, options.onProgress);
  let isComplete = await runner.run(
    chunks,
    (chunk, result) => {
      (chunk.task === "cycle" ? cycle : shortcut).add(result);
      progress.count(chunk.to - chunk.from);
    },
    options.signal,
  );
  const toReplay = isComplete ? [cycle.deadlocked, cycle.calm].map((named) => first(named, wholeReplays)) : [];
  if (toReplay.some((named) => named.length > 0)) {
    const again = toReplay.flatMap((named) =>
      named.map((round, i): Chunk => ({ ...common, ...none, from: round, to: round + 1, task: "replay", hasControls: i === 0 })),
    );
    isComplete = await runner.run(
      again,
      (_, result) => {
        addWholeReplays(cycle.whole, result.whole);
        progress.replayed(again.length);
      },
      options.signal,
    );
  }
  return {
    ...common,
    gpus: gpusOf(checked),
    groups: groupsOf(checked),
    submissions: submissionsOf(checked),
    ...cycle.estimate(),
    ...(cycle.firstDeadlock === undefined ? {} : { firstDeadlock: cycle.firstDeadlock }),
    ...(shortcut.rounds > 0 ? { shortcut: shortcut.estimate() } : {}),
    replays: cycle.replays,
    whole: cycle.whole,
    partial: !isComplete,
  };
}

// Whole replays take about as long as counting.
class Progress {
  #counted = 0;
  #replayed = 0;

  constructor(
    readonly rounds: number,
    readonly hasReplays: boolean,
    readonly onProgress: ((share: number) => void) | undefined,
  ) {}

  count(rounds: number): void {
    this.#counted += rounds;
    this.onProgress?.((this.#counted / this.rounds) * (this.hasReplays ? 0.5 : 1));
  }

  replayed(total: number): void {
    this.#replayed += 1;
    this.onProgress?.(0.5 + this.#replayed / total / 2);
  }
}

class Sum {
  rounds = 0;
  readonly deadlocked: number[] = [];
  readonly calm: number[] = [];
  readonly replays = emptyTallies();
  readonly whole = emptyWholeReplays();
  firstDeadlock: number | undefined;
  #deadlocks = 0;

  add(result: ChunkResult): void {
    this.rounds += result.rounds;
    this.#deadlocks += result.deadlocks;
    // One by one: as arguments of a call, a million of them would overflow the stack.
    for (const round of result.deadlocked) this.deadlocked.push(round);
    for (const round of result.calm) this.calm.push(round);
    addTallies(this.replays, result.replays);
    const [earliest] = result.deadlocked;
    if (earliest !== undefined && (this.firstDeadlock === undefined || earliest < this.firstDeadlock)) this.firstDeadlock = earliest;
  }

  estimate(): RatioEstimate {
    const ratio = this.rounds === 0 ? 0 : this.#deadlocks / this.rounds;
    return { rounds: this.rounds, deadlocks: this.#deadlocks, ratio, interval: confidenceInterval(this.#deadlocks, this.rounds) };
  }
}

function divide(rounds: number, submissions: number, perChunk: number): [number, number][] {
  if (rounds === 0) return [];
  const size = Math.max(1, Math.round(perChunk / submissions));
  return Array.from({ length: Math.ceil(rounds / size) }, (_, i) => [i * size, Math.min((i + 1) * size, rounds)]);
}

// Chunks finish in no particular order.
function first(rounds: readonly number[], count: number): readonly number[] {
  return [...rounds].sort((a, b) => a - b).slice(0, count);
}

// Spread over the chunks in proportion, so that which rounds are replayed depends on nothing but their number.
function replaysOf(from: number, to: number, rounds: number, replays: number): number {
  return Math.floor((to / rounds) * replays) - Math.floor((from / rounds) * replays);
}
