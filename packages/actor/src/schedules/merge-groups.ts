import {
  checkFunction,
  checkInteger,
  checkObject,
  checkOptions,
  InvalidArgumentError,
  type OptionNames,
  readArgument,
} from "@dfccl/primitives";
import { readFields, readList } from "../read-fields.js";

/** How much of an order one launch may take. OneFlow's limits by default. */
export interface MergeLimits {
  /** Bytes of a group of more than one; default 16 MiB. */
  readonly maxGroupBytes?: number;
  /** Default 64. */
  readonly maxGroupSize?: number;
}

const limitNames: OptionNames<MergeLimits> = { maxGroupBytes: true, maxGroupSize: true };

/** Limits with what is left out put in. @throws {InvalidArgumentError}, UnknownOptionError */
export function readLimits(argument: string, limits: MergeLimits): Required<MergeLimits> {
  const example = "an object such as { maxGroupSize: 64 }";
  checkOptions(argument, limits, limitNames, example);
  const { maxGroupBytes = 16 * 2 ** 20, maxGroupSize = 64 } = readFields(argument, limits, limitNames, example);
  checkBytes("maxGroupBytes", maxGroupBytes);
  checkInteger("maxGroupSize", maxGroupSize, 1);
  return { maxGroupBytes, maxGroupSize };
}

/** @throws {InvalidArgumentError} for what is no number from 0; Infinity is one. */
export function checkBytes(argument: string, bytes: number): void {
  if (typeof bytes !== "number" || !(bytes >= 0)) throw new InvalidArgumentError(argument, bytes, "a number of bytes from 0");
}

/**
 * Cuts an ordered list into groups of neighbours that are launched as one: of one kind, within the limits. What alone is
 * larger than the limit is a group of its own.
 * @param kindOf - what must be equal within a group, such as device set, depth and operator; everything is one kind by default.
 * @throws {InvalidArgumentError}, UnknownOptionError
 */
export function mergeGroups<T extends { readonly bytes: number }>(
  ordered: readonly T[],
  limits: MergeLimits = {},
  kindOf: (entry: T) => string = () => "",
): T[][] {
  const read = readLimits("limits", limits);
  checkFunction("kindOf", kindOf, "a function of an entry that returns its kind");
  const entries = readList("ordered", ordered, "a list of { bytes }");
  for (const [index, entry] of entries.entries()) {
    const name = `ordered[${index}]`;
    checkObject(name, entry, "an object such as { bytes: 4 }");
    checkBytes(
      `${name}.bytes`,
      readArgument(`${name}.bytes`, "a number of bytes from 0", () => entry.bytes),
    );
  }
  return cutIntoGroups(entries, read, kindOf);
}

/** The same of what has been looked at: coordinators do it in every cycle. */
export function cutIntoGroups<T extends { readonly bytes: number }>(
  ordered: readonly T[],
  { maxGroupBytes, maxGroupSize }: Required<MergeLimits>,
  kindOf: (entry: T) => string = () => "",
): T[][] {
  const groups: T[][] = [];
  let current: T[] = [];
  let bytes = 0;
  let kind = "";
  for (const entry of ordered) {
    const fits = current.length < maxGroupSize && bytes + entry.bytes <= maxGroupBytes && kindOf(entry) === kind;
    if (current.length > 0 && !fits) {
      groups.push(current);
      current = [];
      bytes = 0;
    }
    kind = kindOf(entry);
    current.push(entry);
    bytes += entry.bytes;
  }
  if (current.length > 0) groups.push(current);
  return groups;
}
