import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

/** Told what is done next. */
export type BeginStage = (what: string) => void;

interface StagesOptions {
  readonly stream?: { readonly isTTY?: boolean; readonly fd: number; write(text: string): unknown };
  readonly afterMs?: number;
  /** The module of the thread. */
  readonly thread?: string | undefined;
}

// Beside the command's own file, whatever that is called.
const files = ["./stages-thread.js", "./stages-thread.mjs"].map((name) => fileURLToPath(new URL(name, import.meta.url)));

/**
 * Says on standard error what `work` is at: on a terminal at once, and takes it back afterwards; in a pipe once two seconds have
 * passed, for what is shorter needs no word there. The work may compute without a pause, in which no timer of its own thread would
 * ever run: so another thread looks at the clock.
 */
export async function withStages<T>(work: (begin: BeginStage) => Promise<T>, options: StagesOptions = {}): Promise<T> {
  const { stream = process.stderr, afterMs = 2_000, thread = files.find((file) => existsSync(file)) } = options;
  const clear = "\r\u001b[2K";
  if (stream.isTTY) {
    try {
      return await work((what) => stream.write(`${clear}${what} …`));
    } finally {
      stream.write(clear);
    }
  }
  if (thread === undefined) return work(() => undefined);
  // Where there is no thread to be had, the work goes on without a word.
  const worker = startThread(thread, { afterMs, fd: stream.fd });
  if (worker === undefined) return work(() => undefined);
  worker.on("error", () => undefined);
  // A program's file that waits for nothing ends the process, which says so.
  worker.unref();
  try {
    return await work((what) => worker.postMessage(what));
  } finally {
    await worker.terminate();
  }
}

function startThread(thread: string, workerData: object): Worker | undefined {
  try {
    return new Worker(thread, { workerData, execArgv: [] });
  } catch {
    return undefined;
  }
}
