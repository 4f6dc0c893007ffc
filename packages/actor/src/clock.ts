import { checkFunction, InvalidArgumentError } from "@dfccl/primitives";

/** Time as schedules and actors see it, so that a test can hand in its own. */
export interface Clock {
  /** Milliseconds since some fixed moment. */
  now(): number;
  /** Calls back once, not before `delayMs` have passed. @returns what takes the call back. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The machine's clock. Waiting for it keeps the process alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, callback) {
    if (!Number.isFinite(delayMs)) throw new InvalidArgumentError("delayMs", delayMs, "milliseconds, a finite number");
    checkFunction("callback", callback, "a function to call back");
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
