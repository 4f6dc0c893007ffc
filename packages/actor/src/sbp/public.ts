// What the package exports of this folder, behind a look at what callers give. Within the package the functions themselves are
// called: they run for every copy of every act.
import { checkInteger, checkNumber, InvalidArgumentError } from "@dfccl/primitives";
import { readFields, readList } from "../read-fields.js";
import * as boxes from "./box.js";
import * as costs from "./cost.js";
import * as layouts from "./layout.js";
import * as placements from "./placement.js";
import { readBox } from "./read-box.js";
import { readLayout, readNdSbp, readPlacement, readSbp, readShape } from "./read-layout.js";
import * as signatures from "./sbp.js";

/** The extent of each axis. @throws {InvalidArgumentError} for what is no box: ranges of whole numbers, `to` not before `from`. */
export function shapeOf(box: boxes.Box): number[] {
  return boxes.shapeOf(readBox("box", box));
}

/** Elements of a box. @throws {InvalidArgumentError} for what is no box. */
export function volumeOf(box: boxes.Box): number {
  return boxes.volumeOf(readBox("box", box));
}

/**
 * @param ranks - whole numbers from 0, each once.
 * @param hierarchy - sizes of a grid whose product is the number of ranks; default: one dimension.
 * @throws {InvalidArgumentError} for what are no lists; {@link PlacementError} for ranks given twice or a hierarchy of another size.
 */
export function placement(ranks: readonly number[], hierarchy?: readonly number[]): placements.Placement {
  const members = readList("ranks", ranks, "a list of ranks such as [0, 1]");
  return placements.placement(
    members,
    hierarchy === undefined ? [members.length] : readList("hierarchy", hierarchy, "the sizes of a grid, such as [2, 4]"),
  );
}

/**
 * @param shape - extents, whole numbers from 1.
 * @throws {ShapeError}, {@link SignatureError}, {@link PlacementError} naming what doesn't fit; InvalidArgumentError for what is none
 * of the three.
 */
export function layout(shape: readonly number[], sbp: signatures.NdSbp, placement: placements.Placement): layouts.Layout {
  return layouts.layout(readShape("shape", shape), readNdSbp("sbp", sbp), readPlacement("placement", placement));
}

/**
 * The part that a member holds: nested splits divide what the outer ones left.
 * @param member - its position among the placement's ranks.
 * @param without - a dimension of the hierarchy that is left out, which gives what its group holds together.
 * @throws {InvalidArgumentError}, ShapeError, SignatureError, PlacementError for what is no layout, no member or no dimension.
 */
export function boxOf(layout: layouts.Layout, member: number, without?: number): boxes.Box {
  const place = readLayout("layout", layout);
  checkInteger("member", member, 0, place.placement.ranks.length - 1);
  if (without !== undefined) checkInteger("without", without, 0, place.sbp.length - 1);
  return layouts.boxOf(place, member, without);
}

/**
 * OneFlow's cost of a change of signature along one dimension, in bytes moved between devices, all of them together. What is
 * only rearranged where it lies (a slice of a broadcast tensor, a slice in zeros as a summand) moves nothing and costs 1, so that
 * it loses against leaving things as they are.
 * @throws {InvalidArgumentError} for what are no signatures, bytes below 0 or counts of devices below 1.
 */
export function boxingCost(from: signatures.Sbp, to: signatures.Sbp, facts: costs.CostFacts): number {
  const names = { bytes: true, from: true, to: true, isSamePlacement: true } as const;
  const read = readFields("facts", facts, names, "an object such as { bytes: 64, from: 2, to: 2, isSamePlacement: true }");
  checkNumber("facts.bytes", read.bytes);
  if (read.bytes < 0) throw new InvalidArgumentError("facts.bytes", read.bytes, "a number from 0");
  checkInteger("facts.from", read.from, 1);
  checkInteger("facts.to", read.to, 1);
  if (typeof read.isSamePlacement !== "boolean")
    throw new InvalidArgumentError("facts.isSamePlacement", read.isSamePlacement, "true or false");
  return costs.boxingCost(readSbp("from", from), readSbp("to", to), read);
}

/** "S0", "B", "P"; "(S0, B)" for several dimensions. @throws {InvalidArgumentError} for what are no signatures. */
export function formatSbp(sbp: signatures.NdSbp): string {
  return signatures.formatSbp(readNdSbp("sbp", sbp));
}
