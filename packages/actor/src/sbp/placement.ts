import { formatValue } from "@dfccl/primitives";
import { PlacementError } from "./errors.js";

/** The ranks that a tensor lies on, as a grid of one or more dimensions: the last one's ranks are neighbours. */
export interface Placement {
  readonly ranks: readonly number[];
  /** Sizes of the grid; their product is the number of ranks. */
  readonly hierarchy: readonly number[];
}

/** @throws {PlacementError} for ranks given twice or a hierarchy of another size. @pre both are lists. */
export function placement(ranks: readonly number[], hierarchy: readonly number[]): Placement {
  const areRanks = ranks.every((rank) => Number.isSafeInteger(rank) && rank >= 0);
  if (ranks.length === 0 || !areRanks || new Set(ranks).size !== ranks.length) {
    throw new PlacementError(
      `The placement has the ranks ${formatValue(ranks)}.`,
      "Give at least one rank, each once, as a whole number from 0.",
      { ranks },
    );
  }
  const areSizes = hierarchy.length > 0 && hierarchy.every((extent) => Number.isSafeInteger(extent) && extent >= 1);
  if (!areSizes || hierarchy.reduce((product, extent) => product * extent, 1) !== ranks.length) {
    throw new PlacementError(
      `The hierarchy ${areSizes ? `[${hierarchy.join(" × ")}]` : formatValue(hierarchy)} doesn't hold ${ranks.length} ranks.`,
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

const members = new WeakMap<Placement, ReadonlyMap<number, number>>();

/** Which member a rank is; -1 where it is none. @pre nobody changes a placement that was asked. */
export function memberOf(place: Placement, rank: number): number {
  let known = members.get(place);
  if (known === undefined) {
    known = new Map(place.ranks.map((one, member) => [one, member]));
    members.set(place, known);
  }
  return known.get(rank) ?? -1;
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
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [member]);
    else group.push(member);
  });
  return [...groups.values()];
}
