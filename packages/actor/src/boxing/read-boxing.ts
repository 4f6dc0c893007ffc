import { checkInteger, checkNumber, InvalidArgumentError } from "@dfccl/primitives";
import { readFields, readList, readWholeNumbers } from "../read-fields.js";
import { type Box, isWithin } from "../sbp/box.js";
import { boxOf, isSameLayout, type Layout } from "../sbp/layout.js";
import { isSamePlacement, memberOf } from "../sbp/placement.js";
import { readBox } from "../sbp/read-box.js";
import { readLayout } from "../sbp/read-layout.js";
import type { Boxing, BoxingStep, CollectiveStep, CopyStep, SliceCopy } from "./boxing.js";
import { changeDimension } from "./one-dimension.js";
import { rootedStep } from "./rooted-step.js";

const expected = "what chooseBoxing() returns";
const base = { kind: true, from: true, to: true, cost: true } as const;
const copyNames = { ...base, copies: true } as const;
const collectiveNames = { ...base, collective: true, groups: true, dimension: true, isPacked: true, isUnpacked: true } as const;

/**
 * A boxing as it is now, whose steps can be carried out. They may be others than the cheapest.
 * @throws {InvalidArgumentError}, PlacementError, ShapeError, SignatureError
 */
export function readBoxing(argument: string, given: Boxing): Boxing {
  const names = { from: true, to: true, elementBytes: true, steps: true, cost: true } as const;
  const fields = readFields(argument, given, names, expected);
  const from = readLayout(`${argument}.from`, fields.from);
  const to = readLayout(`${argument}.to`, fields.to);
  checkElementBytes(`${argument}.elementBytes`, fields.elementBytes);
  checkNumber(`${argument}.cost`, fields.cost);
  const steps = readList(`${argument}.steps`, fields.steps, "a list of steps").map((step, index) =>
    readStep(`${argument}.steps[${index}]`, step),
  );
  // Dimensions may have been taken together before the first step, so that its grid is another one.
  const [first, last] = [steps[0]?.from ?? to, steps.at(-1)?.to ?? from];
  const isWhole = isSameTensor(from, first) && isSameTensor(to, last);
  const isChain = steps.every((step, index) => index === 0 || isSameLayout(step.from, (steps[index - 1] as BoxingStep).to));
  if (!isWhole || !isChain) throw new InvalidArgumentError(`${argument}.steps`, fields.steps, "steps that lead from `from` to `to`");
  return { from, to, elementBytes: fields.elementBytes, steps, cost: fields.cost };
}

/** @throws {InvalidArgumentError} */
export function checkElementBytes(argument: string, bytes: number): void {
  checkInteger(argument, bytes, 1);
}

/** Each rank holds the same part. */
function isSameTensor(a: Layout, b: Layout): boolean {
  const { ranks } = a.placement;
  const areSameParts = (member: number): boolean =>
    isWithin(boxOf(a, member), boxOf(b, member)) && isWithin(boxOf(b, member), boxOf(a, member));
  return ranks.join() === b.placement.ranks.join() && ranks.every((_rank, member) => areSameParts(member));
}

function readStep(argument: string, given: BoxingStep): BoxingStep {
  const { kind, from, to, cost } = readFields<BoxingStep>(argument, given, base, expected);
  checkNumber(`${argument}.cost`, cost);
  const step = { from: readLayout(`${argument}.from`, from), to: readLayout(`${argument}.to`, to), cost };
  if (kind === "copies") return readCopies(argument, given as CopyStep, step);
  if (kind === "collective") return readCollective(argument, given as CollectiveStep, step);
  throw new InvalidArgumentError(`${argument}.kind`, kind, '"copies" or "collective"');
}

type Ends = Pick<BoxingStep, "from" | "to" | "cost">;

function readCopies(argument: string, given: CopyStep, step: Ends): CopyStep {
  const { copies } = readFields<CopyStep>(argument, given, copyNames, expected);
  const read = readList(`${argument}.copies`, copies, "a list of copies").map((copy, index): SliceCopy => {
    const name = `${argument}.copies[${index}]`;
    const { fromRank, toRank, box } = readFields(
      name,
      copy,
      { fromRank: true, toRank: true, box: true },
      "a copy: { fromRank, toRank, box }",
    );
    const slice = readBox(`${name}.box`, box);
    checkPart(`${name}.fromRank`, fromRank, step.from, slice);
    checkPart(`${name}.toRank`, toRank, step.to, slice);
    return { fromRank, toRank, box: slice };
  });
  return { kind: "copies", ...step, copies: read };
}

/** The rank holds all of the box. */
function checkPart(argument: string, rank: number, place: Layout, box: Box): void {
  const member = memberOf(place.placement, rank);
  if (member >= 0 && isWithin(box, boxOf(place, member))) return;
  throw new InvalidArgumentError(argument, rank, "a rank that holds the box");
}

function readCollective(argument: string, given: CollectiveStep, step: Ends): CollectiveStep {
  const { collective, groups, dimension, isPacked, isUnpacked } = readFields<CollectiveStep>(argument, given, collectiveNames, expected);
  checkInteger(`${argument}.dimension`, dimension, 0, step.from.sbp.length - 1);
  for (const [name, value] of Object.entries({ isPacked, isUnpacked })) {
    if (typeof value !== "boolean") throw new InvalidArgumentError(`${argument}.${name}`, value, "true or false");
  }
  const read = readList(`${argument}.groups`, groups, "a list of groups of ranks").map((group, index) =>
    readWholeNumbers(`${argument}.groups[${index}]`, group, "a list of ranks"),
  );
  const known = collectiveBetween(step.from, step.to, dimension);
  if (known?.kind !== "collective" || known.collective !== collective || !isDeepSame(known.groups, read)) {
    throw new InvalidArgumentError(
      argument,
      `${typeof collective === "string" ? collective : typeof collective}`,
      "a collective that makes `to` of `from`",
    );
  }
  return { kind: "collective", ...step, collective, groups: read, dimension, isPacked, isUnpacked };
}

/** The one that leads from this layout to that one, if any does. */
function collectiveBetween(from: Layout, to: Layout, dimension: number): BoxingStep | undefined {
  const sbp = to.sbp[dimension];
  if (!isSamePlacement(from.placement, to.placement)) return rootedStep(from, to, 1);
  const step = sbp === undefined ? undefined : changeDimension(from, dimension, sbp, 1);
  return step !== undefined && isSameLayout(step.to, to) ? step : undefined;
}

function isDeepSame(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): boolean {
  return a.length === b.length && a.every((group, index) => group.join() === b[index]?.join());
}
