// A loader, or a wave's worker, of the measurement of hand-offs.
import { parentPort, workerData } from "node:worker_threads";
import { type HandOff, loaderEnd, type Round, rounds, workerEnd } from "./hand-off/contenders.js";

export interface HandOffStart {
  readonly kind: HandOff | Round;
  readonly memory: SharedArrayBuffer;
  readonly workers: number;
  /** Values, or rounds, of this thread. */
  readonly count: number;
}

const { kind, memory, workers, count } = workerData as HandOffStart;
parentPort?.postMessage("ready");
if (isRound(kind)) {
  const work = workerEnd(kind, memory, workers);
  for (let i = 0; i < count; i += 1) work();
} else {
  const handOver = loaderEnd(kind, memory);
  for (let i = 1; i <= count; i += 1) handOver(i);
}

function isRound(name: HandOff | Round): name is Round {
  return (rounds as readonly string[]).includes(name);
}
