// Runs in a worker thread: a chunk in, its result out.
export { simulateChunk as default } from "./simulate-chunk.js";
