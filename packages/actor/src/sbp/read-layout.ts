import { checkInteger, checkObject, InvalidArgumentError, readArgument } from "@dfccl/primitives";
import { readFields, readList } from "../read-fields.js";
import { type Layout, layout } from "./layout.js";
import { type Placement, placement } from "./placement.js";
import { broadcast, type NdSbp, partial, type Sbp, split } from "./sbp.js";

const aSignature = 'what parseSbp("S0") returns';
const aPlacement = "what placement([0, 1]) returns";
const aLayout = "what layout([4, 8], sbp, placement) returns";

/** One dimension's signature. @throws {InvalidArgumentError} */
export function readSbp(argument: string, given: Sbp): Sbp {
  const expected = "split(0), broadcast or partial";
  checkObject(argument, given, expected);
  const [kind, axis] = readArgument(argument, expected, () => [given.kind, given.kind === "split" ? given.axis : 0] as const);
  if (kind === "broadcast") return broadcast;
  if (kind === "partial") return partial;
  if (kind !== "split") throw new InvalidArgumentError(`${argument}.kind`, kind, '"split", "broadcast" or "partial"');
  checkInteger(`${argument}.axis`, axis, 0);
  return split(axis);
}

/** @throws {InvalidArgumentError} */
export function readNdSbp(argument: string, given: NdSbp): NdSbp {
  return readList(argument, given, aSignature).map((one, dimension) => readSbp(`${argument}[${dimension}]`, one));
}

/** @throws {InvalidArgumentError}, PlacementError */
export function readPlacement(argument: string, given: Placement): Placement {
  const { ranks, hierarchy } = readFields(argument, given, { ranks: true, hierarchy: true }, aPlacement);
  return placement(readList(`${argument}.ranks`, ranks, aPlacement), readList(`${argument}.hierarchy`, hierarchy, aPlacement));
}

/** @throws {InvalidArgumentError}, PlacementError, ShapeError, SignatureError */
export function readLayout(argument: string, given: Layout): Layout {
  const { shape, sbp, placement: place } = readFields(argument, given, { shape: true, sbp: true, placement: true }, aLayout);
  const extents = readShape(`${argument}.shape`, shape);
  return layout(extents, readNdSbp(`${argument}.sbp`, sbp), readPlacement(`${argument}.placement`, place));
}

/** A list; of its extents {@link layout} tells what is wrong. @throws {InvalidArgumentError} */
export function readShape(argument: string, given: readonly number[]): readonly number[] {
  return readList(argument, given, "a list of extents such as [4, 8]");
}
