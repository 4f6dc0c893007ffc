import { checkObject } from "./check-object.js";
import { InvalidArgumentError } from "./errors.js";

/**
 * What a list holds at a place that came from elsewhere.
 * @throws {InvalidArgumentError}
 */
export function entryAt<T>(list: readonly T[], argument: string, place: number): T {
  const entry = typeof place === "number" ? list[place] : undefined;
  if (entry === undefined) throw new InvalidArgumentError(argument, place, `a whole number from 0 to ${list.length - 1}`);
  return entry;
}

/**
 * What a table holds for a name. What no own property is, "__proto__" among it, is refused.
 * @throws {InvalidArgumentError}
 */
export function lookUp<Name extends string, T>(table: Readonly<Record<Name, T>>, argument: string, name: Name): T {
  checkObject("table", table, "an object with an entry for each name");
  if (typeof name === "string" && Object.hasOwn(table, name)) return table[name];
  throw new InvalidArgumentError(argument, name, `one of ${Object.keys(table).join(", ")}`);
}
