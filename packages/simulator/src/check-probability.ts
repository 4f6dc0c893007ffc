import { InvalidArgumentError } from "@dfccl/primitives";

/** @throws {InvalidArgumentError} */
export function checkProbability(argument: string, value: number): void {
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) throw new InvalidArgumentError(argument, value, "a number from 0 to 1");
}
