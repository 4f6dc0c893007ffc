// Callers in JavaScript have no compiler that refuses what can't be: these name the argument.
import { InvalidArgumentError } from "./errors.js";
import { readArgument } from "./read-argument.js";

/** @throws {InvalidArgumentError} */
export function checkList(argument: string, value: unknown, expected: string): void {
  // Array.isArray() throws for a revoked proxy.
  if (!readArgument(argument, expected, () => Array.isArray(value))) throw new InvalidArgumentError(argument, value, expected);
}

/** @throws {InvalidArgumentError} */
export function checkText(argument: string, value: unknown, expected: string): void {
  if (typeof value !== "string") throw new InvalidArgumentError(argument, value, expected);
}

/** @throws {InvalidArgumentError} */
export function checkFunction(argument: string, value: unknown, expected: string): void {
  if (typeof value !== "function") throw new InvalidArgumentError(argument, value, expected);
}
