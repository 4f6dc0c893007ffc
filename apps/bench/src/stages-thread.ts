import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { lateStages } from "./terminal/late-stages.js";

// A thread beside work that computes without a pause: it says what that is at. See terminal/stages.ts.
const { afterMs, fd } = workerData as { readonly afterMs: number; readonly fd: number };

const begin = lateStages(
  (line) => {
    try {
      // Not through process.stderr, which goes through the thread that computes.
      writeSync(fd, line);
    } catch {
      // A pipe that is full or has no reader: the work matters, not the word.
    }
  },
  (passed) => setTimeout(passed, afterMs),
);
parentPort?.on("message", begin);
