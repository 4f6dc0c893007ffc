import { InvalidArgumentError } from "@dfccl/primitives";

/** How much of an order one launch may take. OneFlow's limits by default. */
export interface MergeLimits {
  /** Bytes of a group of more than one; default 16 MiB. */
  readonly maxGroupBytes?: number;
  /** Default 64. */
  readonly maxGroupSize?: number;
}

/**
 * Cuts an ordered list into groups of neighbours that are launched as one: of one kind, within the limits. What alone is
 * larger than the limit is a group of its own.
 * @param kindOf - what must be equal within a group, such as device set, depth and operator; everything is one kind by default.
 */
export function mergeGroups<T extends { readonly bytes: number }>(
  ordered: readonly T[],
  limits: MergeLimits = {},
  kindOf: (entry: T) => string = () => "",
): T[][] {
  const { maxGroupBytes = 16 * 2 ** 20, maxGroupSize = 64 } = limits;
  if (!(maxGroupBytes >= 0)) throw new InvalidArgumentError("maxGroupBytes", maxGroupBytes, "a number of bytes from 0");
  if (!Number.isInteger(maxGroupSize) || maxGroupSize < 1)
    throw new InvalidArgumentError("maxGroupSize", maxGroupSize, "a whole number from 1");
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
