import { checkInteger, isPowerOfTwo, QueueMisuseError } from "./errors.js";
import type { SharedWords } from "./shared-words.js";

export const mostBlocks = 2 ** 16;

/**
 * Before anything is read or written: a typed array drops stores behind its end without a word.
 * @throws {QueueMisuseError} unless `words` are at least so many bytes of memory.
 */
export function requireMemory(words: SharedWords, bytes: number): void {
  if (typeof words?.compareExchange64 !== "function") {
    throw new QueueMisuseError(`words is ${words === null ? "null" : typeof words}.`, { bytes }, "Give what sharedWords(buffer) returns.");
  }
  if (words.byteLength >= bytes) return;
  throw new QueueMisuseError(
    `The memory has ${words.byteLength} bytes, and the queue takes ${bytes}.`,
    { byteLength: words.byteLength, bytes },
    "Give as many bytes as the function says whose name ends in Bytes.",
  );
}

/** @throws {QueueMisuseError} for what is no queue that createX() or attachX() returned. */
export function requireQueue(queue: { readonly words: SharedWords }, ...numbers: readonly string[]): void {
  if (typeof queue !== "object" || queue === null) {
    throw new QueueMisuseError(
      `The queue is ${queue === null ? "null" : typeof queue}.`,
      {},
      "Give what the function returns that made it.",
    );
  }
  requireMemory(queue.words, 0);
  for (const name of numbers) checkInteger(name, (queue as unknown as Readonly<Record<string, number>>)[name] ?? Number.NaN, 1, 2 ** 31);
}

/** @returns the capacity of the queue that is in this memory. @throws {QueueMisuseError} where none was made. */
export function capacityIn(words: SharedWords, index: number, least: number, most: number): number {
  requireMemory(words, (index + 1) * 4);
  const capacity = words.load(index);
  if (isPowerOfTwo(capacity) && capacity >= least && capacity <= most) return capacity;
  throw new QueueMisuseError(
    `No queue of this kind is in the memory: its capacity would be ${capacity}.`,
    { capacity, least, most },
    "Attach where one was made, with the same name and the same byte offset.",
  );
}

/** @returns how many blocks read the queue that is in this memory. @throws {QueueMisuseError} for a number that can't be. */
export function blockCountIn(words: SharedWords, index: number): number {
  const blockCount = words.load(index);
  checkInteger("blockCount", blockCount, 1, mostBlocks);
  return blockCount;
}
