// Calls the methods of what a package returns with what callers in JavaScript may pass.
import { testHostileValues } from "./hostile-values.js";

/** Names of an object's public methods: the compiler sees to it that a table names each. */
type MethodNames<T> = { [Name in keyof T & string]: T[Name] extends (...args: never) => unknown ? Name : never }[keyof T & string];

type Calls<T> = Readonly<Record<MethodNames<T>, () => readonly unknown[]>>;

/** Turns of the event loop after which a call that isn't answered counts as accepted: it waits for what never comes. */
const patience = 20;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Each public method is called with right arguments and then with wrong ones, as {@link testHostileValues} does with what is
 * exported; each call has an object of its own.
 * @param name - what the object is called.
 * @param close - undoes what `make` did.
 */
export function testHostileMethods<T extends object>(name: string, make: () => T, calls: Calls<T>, close?: (made: T) => void): void {
  const entries = Object.entries(calls) as [string, () => readonly unknown[]][];
  const call = async (method: string, args: readonly unknown[]): Promise<unknown> => {
    const made = make();
    try {
      const called = (made as Record<string, (...given: readonly unknown[]) => unknown>)[method];
      return await Promise.race([called?.apply(made, args as unknown[]), turns(patience)]);
    } finally {
      close?.(made);
    }
  };
  testHostileValues(
    Object.fromEntries(entries.map(([method]) => [`${name}.${method}`, (...args: readonly unknown[]) => call(method, args)])),
    Object.fromEntries(entries.map(([method, args]) => [`${name}.${method}`, args])),
    { throwing: true },
  );
}
