// What callers give is read once, at the door, into objects of our own: behind it nothing can throw or change any more.
import {
  checkFunction,
  checkInteger,
  checkList,
  checkObject,
  InvalidArgumentError,
  type OptionNames,
  readArgument,
} from "@dfccl/primitives";
import { mostEntries } from "./limits.js";

/**
 * The fields of an object, each read once; those that are undefined are left out. What they hold isn't looked at.
 * @throws {InvalidArgumentError} naming the field that can't be read.
 */
export function readFields<T extends object>(argument: string, value: T, names: OptionNames<T>, expected: string): T {
  checkObject(argument, value, expected);
  const fields: Partial<T> = {};
  for (const name of Object.keys(names) as (keyof T & string)[]) {
    const field = readArgument(`${argument}.${name}`, "a value that can be read", () => value[name]);
    if (field !== undefined) fields[name] = field;
  }
  return fields as T;
}

/** The entries of a list, each read once. @throws {InvalidArgumentError} */
export function readList<T>(argument: string, value: readonly T[], expected: string): readonly T[] {
  checkList(argument, value, expected);
  return readArgument(argument, expected, () => {
    if (value.length > mostEntries)
      throw new InvalidArgumentError(argument, `a list of ${value.length}`, `${expected}, of ${mostEntries} at most`);
    return Array.from({ length: value.length }, (_, index) => value[index] as T);
  });
}

/** A list of whole numbers from 0. @throws {InvalidArgumentError} */
export function readWholeNumbers(argument: string, value: readonly number[], expected: string): readonly number[] {
  const numbers = readList(argument, value, expected);
  numbers.forEach((number, index) => void checkInteger(`${argument}[${index}]`, number, 0));
  return numbers;
}

/** An object's own entries, each read once. @throws {InvalidArgumentError} */
export function readEntries<T>(argument: string, value: Readonly<Record<string, T>>, expected: string): Readonly<Record<string, T>> {
  checkObject(argument, value, expected);
  return readArgument(argument, expected, () => Object.fromEntries(Object.entries(value)));
}

/** Refuses what lacks a method: such as a clock, which stays the caller's own. @throws {InvalidArgumentError} */
export function checkMethods<T extends object>(argument: string, value: T, names: readonly (keyof T & string)[], expected: string): void {
  checkObject(argument, value, expected);
  for (const name of names)
    checkFunction(
      `${argument}.${name}`,
      readArgument(`${argument}.${name}`, expected, () => value[name]),
      expected,
    );
}
