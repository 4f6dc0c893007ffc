import { checkList } from "@dfccl/primitives";
import { PlacementError } from "./errors.js";

/** The ranks that a tensor lies on, as a grid of one or more dimensions: the last one's ranks are neighbours. */
export interface Placement {
  readonly ranks: readonly number[];
  /** Sizes of the grid; their product is the number of ranks. */
  readonly hierarchy: readonly number[];
}

/**
 * @param hierarchy - default: one dimension.
 * @throws {InvalidArgumentError} for what are no lists; {@link PlacementError} for ranks given twice or a hierarchy of another size.
 */
export function placement(ranks: readonly number[], hierarchy?: readonly number[]): Placement {
  checkList("ranks", ranks, "a list of ranks such as [0, 1]");
  if (hierarchy === undefined) return placement(ranks, [ranks.length]);
  checkList("hierarchy", hierarchy, "the sizes of a grid, such as [2, 4]");
  const wrongRank = ranks.find((rank) => !Number.isInteger(rank) || rank < 0);
  if (ranks.length === 0 || wrongRank !== undefined || new Set(ranks).size !== ranks.length) {
    throw new PlacementError(
      `The placement has the ranks [${ranks.join(", ")}].`,
      "Give at least one rank, each once, as a whole number from 0.",
      { ranks },
    );
  }
  const size = hierarchy.reduce((product, extent) => product * extent, 1);
  if (hierarchy.length === 0 || hierarchy.some((extent) => !Number.isInteger(extent) || extent < 1) || size !== ranks.length) {
    throw new PlacementError(
      `The hierarchy [${hierarchy.join(" × ")}] doesn't hold ${ranks.length} ranks.`,
      "Give whole numbers whose product is the number of ranks.",
      { ranks, hierarchy },
    );
  }
  return { ranks: [...ranks], hierarchy: [...hierarchy] };
}

export function isSamePlacement(a: Placement, b: Placement): boolean {
  return isSameList(a.ranks, b.ranks) && isSameList(a.hierarchy, b.hierarchy);
}

function isSameList(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** A member's place in the grid. */
export function coordinatesOf({ hierarchy }: Placement, member: number): number[] {
  const coordinates: number[] = [];
  let rest = member;
  for (const extent of [...hierarchy].reverse()) {
    coordinates.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return coordinates;
}

/** Members that differ in this dimension alone, in its order: one list for each place in the other dimensions. */
export function groupsAlong(place: Placement, dimension: number): number[][] {
  const groups = new Map<string, number[]>();
  place.ranks.forEach((_rank, member) => {
    const key = coordinatesOf(place, member)
      .map((coordinate, other) => (other === dimension ? "*" : coordinate))
      .join();
    groups.set(key, [...(groups.get(key) ?? []), member]);
  });
  return [...groups.values()];
}
