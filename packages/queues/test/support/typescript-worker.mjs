// A worker thread of Node 20 can't load TypeScript by itself. workerData.module names what to run.
import { workerData } from "node:worker_threads";
import { register } from "tsx/esm/api";

register();
await import(workerData.module);
