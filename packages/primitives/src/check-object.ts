import { InvalidArgumentError } from "./errors.js";

/**
 * Refuses what isn't an object: callers in JavaScript have no compiler that does.
 * @throws {InvalidArgumentError}
 */
export function checkObject(argument: string, value: unknown, expected: string): void {
  if (typeof value !== "object" || value === null) throw new InvalidArgumentError(argument, value, expected);
}
