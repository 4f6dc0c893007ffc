import { checkInteger, InvalidArgumentError, readArgument } from "@dfccl/primitives";
import { partOf, volumeOf } from "../sbp/box.js";
import { boxOf, elementsOf, type Layout } from "../sbp/layout.js";
import { memberOf } from "../sbp/placement.js";
import type { Boxing, BoxingStep, CollectiveStep } from "./boxing.js";
import { collectiveLengths, copyInto, packForCollective, unpackFromCollective } from "./local-boxing.js";
import { readBoxing } from "./read-boxing.js";

/** What each rank holds of a tensor. */
export type Parts = ReadonlyMap<number, Float32Array>;

export interface InterpretedBoxing {
  readonly parts: Parts;
  /** Bytes that a rank took from another, counted as they were taken. */
  readonly movedBytes: number;
}

/**
 * Carries a boxing out in this thread's memory, with collectives by their definitions: for tests, and to count what moves.
 * @param parts - of each rank that the tensor comes from, as many elements as its layout gives that rank.
 * @throws {InvalidArgumentError}, PlacementError, ShapeError, SignatureError for what is no boxing, and parts that don't fit it;
 *   InvalidArgumentError also where all ranks together would hold more than 2^28 elements.
 */
export function interpretBoxing(boxing: Boxing, parts: Parts): InterpretedBoxing {
  const { from, steps, elementBytes } = readBoxing("boxing", boxing);
  let movedElements = 0;
  let current: Parts = readParts(parts, from);
  for (const step of steps) {
    const next = makeParts(step);
    movedElements += step.kind === "copies" ? interpretCopies(step, current, next) : interpretCollective(step, current, next);
    current = next;
  }
  return { parts: current, movedBytes: movedElements * elementBytes };
}

/** Elements of all ranks' parts together: a gigabyte. */
const mostElements = 2 ** 28;

function makeParts(step: BoxingStep): Map<number, Float32Array> {
  const lengths = step.to.placement.ranks.map((rank) => [rank, collectiveLengths(step, rank).recv] as const);
  const elements = lengths.reduce((sum, [, length]) => sum + length, 0);
  checkInteger("elements of all ranks after a step", elements, 0, mostElements);
  return new Map(lengths.map(([rank, length]) => [rank, new Float32Array(length)]));
}

function readParts(parts: Parts, from: Layout): Parts {
  const expected = "a Map of ranks and their Float32Arrays";
  const read = new Map<number, Float32Array>();
  from.placement.ranks.forEach((rank, member) => {
    const elements = elementsOf(from, member);
    const part = readArgument("parts", expected, () => {
      const found = Map.prototype.get.call(parts, rank);
      return found instanceof Float32Array && found.length === elements ? found : undefined;
    });
    if (part === undefined) throw new InvalidArgumentError("parts", parts, `${expected}, with ${elements} elements for rank ${rank}`);
    read.set(rank, part);
  });
  return read;
}

function interpretCopies(step: Extract<BoxingStep, { kind: "copies" }>, parts: Parts, next: Parts): number {
  for (const [rank, target] of next) copyInto(step, rank, (fromRank) => partOfRank(parts, fromRank), target);
  return step.copies.reduce((sum, { fromRank, toRank, box }) => sum + (fromRank === toRank ? 0 : volumeOf(box)), 0);
}

function interpretCollective(step: CollectiveStep, parts: Parts, next: Parts): number {
  let moved = 0;
  for (const group of step.groups) {
    const inputs = group.map((rank) => inputOf(step, rank, parts));
    group.forEach((rank, place) => {
      const target = next.get(rank);
      if (target === undefined) return;
      const packed = step.isUnpacked ? new Float32Array(target.length) : target;
      moved += definitions[step.collective](inputs, place, packed);
      if (step.isUnpacked) unpackFromCollective(step, rank, packed, target);
    });
  }
  return moved;
}

function inputOf(step: CollectiveStep, rank: number, parts: Parts): Float32Array {
  const member = memberOf(step.from.placement, rank);
  if (member < 0) return new Float32Array(0);
  const data = partOfRank(parts, rank);
  if (!step.isPacked) return data;
  const packed = new Float32Array(volumeOf(boxOf(step.from, member)));
  packForCollective(step, rank, data, packed);
  return packed;
}

function partOfRank(parts: Parts, rank: number): Float32Array {
  return parts.get(rank) ?? new Float32Array(0);
}

type Definition = (inputs: readonly Float32Array[], place: number, output: Float32Array) => number;

/** A rank's share of what is split evenly. */
function share(data: Float32Array, ranks: number, place: number): Float32Array {
  const length = data.length / ranks;
  return data.subarray(place * length, (place + 1) * length);
}

function addAll(inputs: readonly Float32Array[], output: Float32Array): void {
  for (const input of inputs) for (const [i, element] of input.entries()) output[i] = (output[i] ?? 0) + element;
}

const sums = new WeakMap<readonly Float32Array[], Float32Array>();

/** Added up once for all members of a group, not once for each. */
function sumOf(inputs: readonly Float32Array[]): Float32Array {
  const known = sums.get(inputs) ?? new Float32Array(inputs[0]?.length ?? 0);
  if (!sums.has(inputs)) addAll(inputs, known);
  sums.set(inputs, known);
  return known;
}

// Each fills one member's output, and returns how many elements it took from others.
const definitions: Readonly<Record<CollectiveStep["collective"], Definition>> = {
  "reduce-scatter": (inputs, place, output) => {
    addAll(
      inputs.map((input) => share(input, inputs.length, place)),
      output,
    );
    return (inputs.length - 1) * output.length;
  },
  "all-gather": (inputs, place, output) => {
    inputs.forEach((input, other) => {
      output.set(input, other * input.length);
    });
    return output.length - (inputs[place]?.length ?? 0);
  },
  // As a reduce-scatter and an all-gather, which is the least that can be moved.
  "all-reduce": (inputs, place, output) => {
    output.set(sumOf(inputs));
    const { from, to } = partOf({ from: 0, to: output.length }, inputs.length, place);
    const own = to - from;
    return (inputs.length - 1) * own + (output.length - own);
  },
  "all-to-all": (inputs, place, output) => {
    const length = output.length / inputs.length;
    inputs.forEach((input, other) => {
      output.set(share(input, inputs.length, place), other * length);
    });
    return output.length - length;
  },
  reduce: (inputs, place, output) => {
    if (place !== 0) return 0;
    addAll(inputs, output);
    return (inputs.length - 1) * output.length;
  },
  broadcast: (inputs, place, output) => {
    output.set(inputs[0] ?? output);
    return place === 0 ? 0 : output.length;
  },
};
