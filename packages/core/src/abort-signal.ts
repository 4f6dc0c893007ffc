import { InvalidArgumentError, readArgument } from "@dfccl/primitives";

/** @throws {InvalidArgumentError} for what can't tell that it is aborted. */
export function checkSignal(signal: AbortSignal | undefined): void {
  const expected = "an AbortSignal, such as that of an AbortController";
  if (signal === undefined || readArgument("signal", expected, () => signal instanceof AbortSignal)) return;
  throw new InvalidArgumentError("signal", signal, expected);
}
