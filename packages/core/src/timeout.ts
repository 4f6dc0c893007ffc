import { InvalidArgumentError } from "@dfccl/primitives";

// Beyond this Node takes a timer for one that is due.
const longestTimeoutMs = 2 ** 31 - 1;

/** @throws {InvalidArgumentError} for a timeout that no timer can keep. */
export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (typeof timeoutMs === "number" && timeoutMs >= 0 && timeoutMs <= longestTimeoutMs)) return;
  throw new InvalidArgumentError(
    "timeoutMs",
    timeoutMs,
    `milliseconds from 0 to ${longestTimeoutMs}, or leave the option out to wait forever`,
  );
}

/**
 * Waits until something is over, but no longer than the timeout.
 * @param failure - what it fails with then. Undefined: it is over, and that merely hasn't been told yet.
 */
export async function within(timeoutMs: number, over: PromiseLike<void>, failure: () => Error | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      over.then(resolve, reject);
      timer = setTimeout(() => {
        // What a timer throws ends the process.
        try {
          const error = failure();
          if (error !== undefined) reject(error);
        } catch (error) {
          reject(error);
        }
      }, timeoutMs);
    });
  } finally {
    clearTimeout(timer);
  }
}
