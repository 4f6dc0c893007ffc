import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import { type Chunk, type ChunkResult, simulateChunk } from "./simulate-chunk.js";

type OnChunk = (chunk: Chunk, result: ChunkResult) => void;

/** Simulates chunks, in worker threads or here. One runner serves many simulations: threads take a while to start. */
export interface ChunkRunner extends AsyncDisposable {
  /**
   * Simulates all chunks; calls back with each that is finished, in no particular order.
   * @returns whether all are; otherwise the signal came first.
   */
  run(chunks: readonly Chunk[], onChunk: OnChunk, signal?: AbortSignal): Promise<boolean>;
}

/** @param workers - threads; 0: none, everything runs here. All cores if not given. */
export function startRunner(workers = availableParallelism()): ChunkRunner {
  return workers === 0 ? { run: runHere, [Symbol.asyncDispose]: async () => undefined } : new ThreadRunner(workers);
}

async function runHere(chunks: readonly Chunk[], onChunk: OnChunk, signal?: AbortSignal): Promise<boolean> {
  for (const chunk of chunks) {
    await new Promise(setImmediate); // lets signals through
    if (signal?.aborted) return false;
    onChunk(chunk, simulateChunk(chunk));
  }
  return true;
}

class ThreadRunner implements ChunkRunner {
  readonly #pool: Piscina<Chunk, ChunkResult>;

  constructor(readonly workers: number) {
    const filename = fileURLToPath(new URL("./deadlock-worker.js", import.meta.url));
    this.#pool = new Piscina({ filename, minThreads: 1, maxThreads: workers });
  }

  async run(chunks: readonly Chunk[], onChunk: OnChunk, signal?: AbortSignal): Promise<boolean> {
    if (signal !== undefined) setMaxListeners(0, signal); // each running chunk listens
    const remaining = chunks.values();
    const work = async (): Promise<boolean> => {
      for (const chunk of remaining) {
        if (signal?.aborted) return false;
        try {
          onChunk(chunk, await this.#pool.run(chunk, signal === undefined ? {} : { signal }));
        } catch (error) {
          if (signal?.aborted) return false;
          throw error;
        }
      }
      return true;
    };
    return (await Promise.all(Array.from({ length: this.workers }, work))).every(Boolean);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }
}
