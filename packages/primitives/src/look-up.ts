import { InvalidArgumentError } from "./errors.js";

/**
 * What a table holds for a name. What no own property is, "__proto__" among it, is refused.
 * @throws {InvalidArgumentError}
 */
export function lookUp<Name extends string, T>(table: Readonly<Record<Name, T>>, argument: string, name: Name): T {
  if (typeof name === "string" && Object.hasOwn(table, name)) return table[name];
  throw new InvalidArgumentError(argument, name, `one of ${Object.keys(table).join(", ")}`);
}
