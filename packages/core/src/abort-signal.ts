import { InvalidArgumentError, readArgument } from "@dfccl/primitives";

/** @throws {InvalidArgumentError} for what can't tell that it is aborted, such as an object that only has the prototype. */
export function checkSignal(signal: AbortSignal | undefined): void {
  const expected = "an AbortSignal, such as that of an AbortController";
  if (signal === undefined || readArgument("signal", expected, () => signal instanceof AbortSignal && typeof signal.aborted === "boolean"))
    return;
  throw new InvalidArgumentError("signal", signal, expected);
}
