import { once } from "node:events";
import { checkInteger, checkNumber, type OptionNames } from "@dfccl/primitives";
import type { HandOffStart } from "../hand-off-thread.js";
import { startThread } from "../host/start-thread.js";
import { checkCallback, readOptions } from "../read-options.js";
import { workerFile } from "../shipped-file.js";
import { callerEnd, contenderBytes, type HandOff, handOffs, type Round, rounds, trainerEnd } from "./contenders.js";

export interface HandOffFigures {
  readonly kind: HandOff | Round;
  readonly workers: number;
  readonly count: number;
  /** Time that the trainer spends in one hand-off, or the caller in one round, in microseconds. */
  readonly meanMicros: number;
  readonly medianMicros: number;
  readonly p99Micros: number;
}

export interface HandOffOptions {
  readonly loaders: number;
  /** Hand-offs, and rounds. */
  readonly count: number;
  /** The trainer's work between two hand-offs, in microseconds. */
  readonly stepMicros: number;
  readonly onProgress?: (done: number, of: number) => void;
}

const optionNames: OptionNames<HandOffOptions> = { loaders: true, count: true, stepMicros: true, onProgress: true };

/**
 * Measures hand-offs as the lecture does: what taking a batch costs a trainer that works between two of them, while loaders
 * always have one ready; and what starting and collecting threads costs their caller.
 * @throws {InvalidArgumentError}, UnknownOptionError
 * @see U. Finkler, "Rings and Things"
 */
export async function measureHandOffs(options: HandOffOptions): Promise<HandOffFigures[]> {
  const example = "an object such as { loaders: 2, count: 1000, stepMicros: 10 }";
  const { loaders, count, stepMicros, onProgress } = readOptions(options, optionNames, example);
  checkInteger("loaders", loaders, 1, 256);
  checkInteger("count", count, 1, 2 ** 24);
  checkNumber("stepMicros", stepMicros);
  checkCallback("onProgress", onProgress);
  const jobs: (() => Promise<HandOffFigures>)[] = [
    ...handOffs.map((kind) => () => measure(kind, loaders, count, (memory) => trainerEnd(kind, memory), stepMicros)),
    ...[1, loaders].flatMap((workers) =>
      rounds.map((kind) => () => measure(kind, workers, count, (memory) => callerEnd(kind, memory, workers), 0)),
    ),
  ];
  const figures: HandOffFigures[] = [];
  for (const job of jobs) {
    figures.push(await job());
    onProgress?.(figures.length, jobs.length);
  }
  return figures;
}

async function measure(
  kind: HandOff | Round,
  workers: number,
  count: number,
  open: (memory: SharedArrayBuffer) => () => unknown,
  stepMicros: number,
): Promise<HandOffFigures> {
  const memory = new SharedArrayBuffer(contenderBytes);
  const isRound = (rounds as readonly string[]).includes(kind);
  // Loaders share the values among them; every worker takes part in every round.
  const perThread = isRound ? count : Math.ceil(count / workers);
  const start: HandOffStart = { kind, memory, workers, count: perThread };
  const threads = Array.from({ length: workers }, () => startThread(workerFile("hand-off-thread"), start));
  try {
    await Promise.all(threads.map((thread) => once(thread, "message")));
    const act = open(memory);
    const micros = new Float64Array(count);
    for (let i = 0; i < count; i += 1) {
      const begin = performance.now();
      act();
      const end = performance.now();
      micros[i] = 1000 * (end - begin);
      while (1000 * (performance.now() - end) < stepMicros);
    }
    const sorted = micros.sort();
    const at = (share: number): number => sorted[Math.floor(share * (count - 1))] ?? Number.NaN;
    const meanMicros = sorted.reduce((sum, value) => sum + value, 0) / count;
    return { kind, workers, count, meanMicros, medianMicros: at(0.5), p99Micros: at(0.99) };
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}
