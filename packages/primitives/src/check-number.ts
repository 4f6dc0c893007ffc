import { InvalidArgumentError } from "./errors.js";

/**
 * Refuses what is no whole number, or one out of range.
 * @param most - without one, any number that is exact, which `expected` doesn't mention.
 * @throws {InvalidArgumentError}
 */
export function checkInteger(argument: string, value: unknown, least: number, most: number = Number.MAX_SAFE_INTEGER): void {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return;
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  throw new InvalidArgumentError(argument, value, `a whole number ${range}`);
}

/**
 * Refuses what is no number; NaN is none.
 * @throws {InvalidArgumentError}
 */
export function checkNumber(argument: string, value: unknown): void {
  if (typeof value !== "number" || Number.isNaN(value)) throw new InvalidArgumentError(argument, value, "a number");
}
