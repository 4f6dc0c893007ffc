// One loader of a rank, in a thread of its own.
import { parentPort, workerData } from "node:worker_threads";
import { decoders } from "./data/decode.js";
import { FileSource } from "./loader/file-source.js";
import { LoaderMemory } from "./loader/loader-memory.js";
import { LoaderWorker } from "./loader/loader-worker.js";
import { pause } from "./loader/pause.js";
import type { LoaderStart } from "./loader/start-loaders.js";

const { shape, worker, plan, path, decoder } = workerData as LoaderStart;
const memory = new LoaderMemory(shape);
parentPort?.postMessage("ready");
try {
  using source = new FileSource(path);
  const loader = new LoaderWorker(memory, worker, plan, source, decoders[decoder]);
  while (!loader.isDone) if (!loader.advance()) pause();
} catch (error) {
  memory.fail(error instanceof Error ? error.message : String(error));
}
