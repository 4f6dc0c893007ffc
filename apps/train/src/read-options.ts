import {
  checkFunction,
  checkInteger,
  checkList,
  checkOptions,
  InvalidArgumentError,
  type OptionNames,
  readArgument,
} from "@dfccl/primitives";

/**
 * Options, each read once; those that are undefined are left out. What they hold isn't looked at.
 * @throws {InvalidArgumentError}, UnknownOptionError
 */
export function readOptions<T extends object>(options: T, names: OptionNames<T>, example: string): T {
  checkOptions("options", options, names, example);
  return readArgument("options", example, () => {
    const entries = Object.keys(names).map((name) => [name, options[name as keyof T]] as const);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as T;
  });
}

/** A list's entries, each read once. @throws {InvalidArgumentError} */
export function readList<T>(argument: string, list: readonly T[], expected: string): readonly T[] {
  checkList(argument, list, expected);
  return readArgument(argument, expected, () => [...list]);
}

/** @throws {InvalidArgumentError} for what isn't ranks of these. */
export function readRanks(ranks: readonly number[], size: number): readonly number[] {
  const read = readList("ranks", ranks, "a list of ranks");
  for (const rank of read) checkInteger("ranks[]", rank, 0, size - 1);
  return read;
}

/** @throws {InvalidArgumentError} */
export function checkCallback(argument: string, callback: unknown): void {
  if (callback !== undefined) checkFunction(argument, callback, "a function to call, or nothing");
}

/** @throws {InvalidArgumentError} for what can't tell that it is aborted. */
export function checkSignal(signal: AbortSignal | undefined): void {
  const expected = "an AbortSignal, such as that of an AbortController";
  if (signal === undefined || readArgument("signal", expected, () => signal instanceof AbortSignal)) return;
  throw new InvalidArgumentError("signal", signal, expected);
}
