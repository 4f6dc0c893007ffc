// What a rank's thread runs first: it loads the rank's program, calls it, and hands its result back.
import { parentPort, workerData } from "node:worker_threads";
import { Communicator } from "./rank/communicator.js";
import type { RankMessage, RankStart } from "./wire.js";

const start = workerData as RankStart;
const post = (message: RankMessage): void => parentPort?.postMessage(message);
const { default: program } = (await import(start.program)) as { default: (communicator: Communicator, args: unknown) => unknown };
post({ kind: "result", value: await program(new Communicator(start, post), start.args) });
