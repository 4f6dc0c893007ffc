import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { type DecoderName, decoders } from "../data/decode.js";
import { DataMissingError } from "../errors.js";
import { startThread } from "../host/start-thread.js";
import { workerFile } from "../shipped-file.js";
import { BatchStream, ringCapacity } from "./batch-stream.js";
import { FileSource } from "./file-source.js";
import { LoaderMemory, type LoaderShape } from "./loader-memory.js";
import { LoaderWorker, type LoadPlan } from "./loader-worker.js";
import { pause } from "./pause.js";

/** What a loader's thread is started with. */
export interface LoaderStart {
  readonly shape: LoaderShape;
  readonly worker: number;
  readonly plan: LoadPlan;
  readonly path: string;
  readonly decoder: DecoderName;
}

/** A rank's batches, read ahead by threads, or where there are none by the rank itself. */
export class Loaders implements Disposable {
  private readonly stream: BatchStream;

  private constructor(
    private readonly memory: LoaderMemory,
    firstStep: number,
    private readonly threads: readonly Worker[],
    /** Gets on with loading, or waits a moment. */
    private readonly work: () => void,
    private readonly source?: FileSource,
  ) {
    this.stream = new BatchStream(memory, firstStep, threads.length === 0 ? () => undefined : work);
  }

  /**
   * Returns when the threads run: the rank blocks from then on, and has no event loop to start them with.
   * @param workers - threads; 0: the rank reads each batch when it needs it.
   */
  static async start(workers: number, plan: LoadPlan, path: string, decoder: DecoderName): Promise<Loaders> {
    // Enough for a full ring, and one in the works on each worker and one in use. Even, as a pool's words must begin at 8 bytes.
    const blocks = workers === 0 ? 4 : 2 * Math.ceil((ringCapacity / workers + 2) / 2);
    const memory = LoaderMemory.create(Math.max(1, workers), blocks, plan.share * plan.recordBytes);
    if (workers === 0) {
      const source = new FileSource(path);
      const worker = new LoaderWorker(memory, 0, plan, source, decoders[decoder]);
      return new Loaders(memory, plan.firstStep, [], () => worker.advance(), source);
    }
    const threads = Array.from({ length: workers }, (_, worker) =>
      startThread(workerFile("loader-thread"), { shape: memory.shape, worker, plan, path, decoder } satisfies LoaderStart),
    );
    await Promise.all(threads.map((thread) => once(thread, "message")));
    return new Loaders(memory, plan.firstStep, threads, pause);
  }

  /**
   * The next step's batch, valid until the next call. Blocks while it isn't there.
   * @throws {DataMissingError} where a loader can't read.
   */
  next(): Float32Array {
    for (;;) {
      const batch = this.stream.tryNext();
      if (batch !== undefined) return batch;
      const reason = this.memory.failureReason();
      if (reason !== undefined) throw new DataMissingError(`A loader failed: ${reason}`, "dfccl train again: the data is prepared anew");
      this.work();
    }
  }

  [Symbol.dispose](): void {
    this.source?.[Symbol.dispose]();
    for (const thread of this.threads) void thread.terminate();
  }
}
