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

/** Of an object of the caller's, such as a signal. @throws {InvalidArgumentError} */
export function checkMethod(argument: string, value: unknown, method: string, expected: string): void {
  checkText("argument", argument, "what to call the object in an error");
  checkText("method", method, "a name");
  const name = `${argument}.${method}`;
  const found = readArgument(name, expected, () => (value as Readonly<Record<string, unknown>> | null | undefined)?.[method]);
  checkFunction(name, found, expected);
}
