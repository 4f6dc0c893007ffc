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
