import { FlipFlop, flipFlopBytes, sharedWords, TrainerRing, WaveCaller, WaveWorker, waveBytes } from "@dfccl/queues";
import { pause } from "../loader/pause.js";
import { Condition, Mutex, MutexQueue } from "./mutex-queue.js";

/** What is compared: two ways from loaders to a trainer, and two ways to start threads and collect them. */
export const handOffs = ["flip-flop and ring", "mutex queue"] as const;
export const rounds = ["wave", "condition variable"] as const;
export type HandOff = (typeof handOffs)[number];
export type Round = (typeof rounds)[number];

/** Enough for any of them. */
export const contenderBytes = 1024;

/** A trainer's end: takes a value, waiting while there is none. */
export function trainerEnd(kind: HandOff, memory: SharedArrayBuffer): () => number {
  if (kind === "mutex queue") {
    const queue = new MutexQueue(new Int32Array(memory, 0, MutexQueue.bytes / 4));
    return () => queue.take();
  }
  const ring = new TrainerRing(new FlipFlop(sharedWords(memory, 0, flipFlopBytes)), 16);
  return () => {
    for (;;) {
      const value = ring.next();
      if (value !== 0) return value;
      pause();
    }
  };
}

/** A loader's end: hands a value over, waiting while there is no room. */
export function loaderEnd(kind: HandOff, memory: SharedArrayBuffer): (value: number) => void {
  if (kind === "mutex queue") {
    const queue = new MutexQueue(new Int32Array(memory, 0, MutexQueue.bytes / 4));
    return (value) => queue.add(value);
  }
  const flipFlop = new FlipFlop(sharedWords(memory, 0, flipFlopBytes));
  return (value) => {
    while (!flipFlop.tryAdd(value)) pause();
  };
}

// Looks before a thread gives its core to another.
const spins = 2000;

function until(isOver: () => boolean): void {
  for (let look = 0; !isOver(); look += 1) if (look % spins === spins - 1) pause();
}

/** A caller's end: starts a round on all workers and waits until each has finished it. */
export function callerEnd(kind: Round, memory: SharedArrayBuffer, workers: number): () => void {
  if (kind === "wave") {
    const wave = new WaveCaller(sharedWords(memory, 0, waveBytes), workers);
    return () => {
      wave.start();
      until(() => wave.isCollected());
    };
  }
  const { words, mutex, start, done } = conditions(memory);
  return () => {
    mutex.lock();
    words[3] = (words[3] ?? 0) + 1;
    words[4] = 0;
    start.signal(workers);
    while (words[4] !== workers) done.wait(mutex);
    mutex.unlock();
  };
}

/** A worker's end: waits for a round and finishes it. */
export function workerEnd(kind: Round, memory: SharedArrayBuffer, workers: number): () => void {
  if (kind === "wave") {
    const wave = new WaveWorker(sharedWords(memory, 0, waveBytes));
    return () => {
      until(() => wave.isStarted());
      wave.finish();
    };
  }
  const { words, mutex, start, done } = conditions(memory);
  let round = 0;
  return () => {
    mutex.lock();
    round += 1;
    while ((words[3] ?? 0) < round) start.wait(mutex);
    words[4] = (words[4] ?? 0) + 1;
    if (words[4] === workers) done.signal(1);
    mutex.unlock();
  };
}

/** Words: mutex, two conditions, rounds started, workers that have finished this one. */
function conditions(memory: SharedArrayBuffer): { words: Int32Array; mutex: Mutex; start: Condition; done: Condition } {
  const words = new Int32Array(memory, 0, 5);
  return { words, mutex: new Mutex(words, 0), start: new Condition(words, 1), done: new Condition(words, 2) };
}
