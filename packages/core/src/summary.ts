import { type InspectOptions, inspect } from "node:util";

/**
 * What console.log() shows of an object: what it stands for, and not the engine behind it.
 * @param options - as `[inspect.custom]` gets them.
 */
export function summary(name: string, facts: object, options: InspectOptions): string {
  return `${name} ${inspect(facts, options)}`;
}
