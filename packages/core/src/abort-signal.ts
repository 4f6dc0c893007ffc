import { InvalidArgumentError } from "@dfccl/primitives";

/** @throws {InvalidArgumentError} for what can't tell that it is aborted. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new InvalidArgumentError("signal", signal, "an AbortSignal, such as that of an AbortController");
}
