import { checkText } from "./check-kind.js";
import { InvalidArgumentError } from "./errors.js";
import { readArgument } from "./read-argument.js";

/** Deeper than any argument is; what holds itself ends here. */
const deepest = 32;

/**
 * A copy of plain data, each property read once: behind it no getter and no proxy of the caller's can throw, or say something else
 * the second time. What is of a class stays the caller's own, and so do functions.
 * @param argument - what the data is called; a part of it is called `argument.part` or `argument[0]`.
 * @throws {InvalidArgumentError} naming the part that can't be read.
 */
export function readPlain<T>(argument: string, value: T): T {
  checkText("argument", argument, "what to call it in an error");
  return copyOf(argument, value, 0);
}

function copyOf<T>(argument: string, value: T, depth: number): T {
  if (typeof value !== "object" || value === null) return value;
  const expected = "plain data that can be read";
  if (depth === deepest) throw new InvalidArgumentError(argument, value, `data that is nested ${deepest} deep at most`);
  // Array.isArray() throws for a revoked proxy.
  const kind = readArgument(argument, expected, () => (Array.isArray(value) ? "list" : isPlain(value) ? "object" : "other"));
  if (kind === "other") return value;
  if (kind === "list") {
    const list = value as readonly unknown[];
    const length = readArgument(argument, expected, () => list.length);
    return Array.from({ length }, (_, i) => {
      const name = `${argument}[${i}]`;
      const read = readArgument(name, expected, () => list[i]);
      return copyOf(name, read, depth + 1);
    }) as T;
  }
  const names = readArgument(argument, expected, () => Object.keys(value));
  const entries = names.map((name) => {
    const full = `${argument}.${name}`;
    const read = readArgument(full, expected, () => (value as Record<string, unknown>)[name]);
    return [name, copyOf(full, read, depth + 1)] as const;
  });
  return Object.fromEntries(entries) as T;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
