import { PlacementError, ShapeError } from "../sbp/errors.js";
import { isSameLayout, type Layout } from "../sbp/layout.js";
import { isSamePlacement } from "../sbp/placement.js";
import { broadcast, formatSbp, isSameNdSbp, partial, split } from "../sbp/sbp.js";
import type { Boxing, BoxingStep } from "./boxing.js";
import { changeDimension } from "./one-dimension.js";
import { reduceDimensions } from "./reduce-dimensions.js";
import { rootedStep } from "./rooted-step.js";
import { copySlices, mostCopies } from "./slice-copies.js";

/**
 * Chooses how a tensor gets from one layout to another: dimensions that change alike are taken together first; on one placement it
 * is the cheapest sequence of changes of one dimension each, or slice copies where those move less; between placements slice
 * copies, over a split where partial becomes broadcast.
 * @throws {ShapeError} where the two are of different shapes; {PlacementError} where that takes more than 2^21 copies.
 * @pre both are layouts, and so many bytes a whole number from 1.
 */
export function chooseBoxing(from: Layout, to: Layout, elementBytes: number): Boxing {
  if (from.shape.join() !== to.shape.join()) {
    throw new ShapeError(
      `A tensor of shape [${from.shape.join(", ")}] can't become one of shape [${to.shape.join(", ")}].`,
      "Boxing keeps the shape: give one.",
      {
        from: from.shape,
        to: to.shape,
      },
    );
  }
  const steps = isSameLayout(from, to) ? [] : chooseSteps(...reduceDimensions(from, to), elementBytes);
  return { from, to, elementBytes, steps, cost: costOf(steps) };
}

function chooseSteps(from: Layout, to: Layout, elementBytes: number): readonly BoxingStep[] {
  if (isSameLayout(from, to)) return [];
  if (isSamePlacement(from.placement, to.placement)) return cheapestPath(from, to, elementBytes);
  const rooted = rootedStep(from, to, elementBytes);
  if (rooted !== undefined) return [rooted];
  const direct = copySlices(from, to, elementBytes);
  const options: (readonly BoxingStep[])[] = direct === undefined ? [] : [[direct]];
  if (from.sbp.some(({ kind }) => kind === "partial") && to.sbp.some(({ kind }) => kind === "broadcast")) {
    for (let axis = 0; axis < to.shape.length; axis += 1) {
      const between = { ...to, sbp: to.sbp.map((sbp) => (sbp.kind === "broadcast" ? split(axis) : sbp)) };
      const copies = copySlices(from, between, elementBytes);
      if (copies !== undefined) options.push([copies, ...cheapestPath(between, to, elementBytes)]);
    }
  }
  if (options.length === 0) throw tooManyCopies(from, to);
  return options.reduce((best, option) => (costOf(option) < costOf(best) ? option : best));
}

function tooManyCopies(from: Layout, to: Layout): PlacementError {
  const [source, target] = [from.placement.ranks.length, to.placement.ranks.length];
  return new PlacementError(
    `From ${formatSbp(from.sbp)} on ${source} ranks to ${formatSbp(to.sbp)} on ${target} takes more than ${mostCopies} copies.`,
    "Add summands up, or gather splits, on fewer ranks first.",
    { source, target, mostCopies },
  );
}

interface Node {
  readonly layout: Layout;
  readonly steps: readonly BoxingStep[];
  readonly cost: number;
}

/** Dijkstra's search over signatures. */
function cheapestPath(from: Layout, to: Layout, elementBytes: number): readonly BoxingStep[] {
  if (isSameLayout(from, to)) return [];
  const open = new Map<string, Node>([[formatSbp(from.sbp), { layout: from, steps: [], cost: 0 }]]);
  const closed = new Set<string>();
  for (;;) {
    if (open.size === 0) throw tooManyCopies(from, to);
    const node = [...open.values()].reduce((best, other) => (isBefore(other, best) ? other : best));
    const key = formatSbp(node.layout.sbp);
    if (isSameNdSbp(node.layout.sbp, to.sbp)) return node.steps;
    open.delete(key);
    closed.add(key);
    for (const step of stepsFrom(node.layout, from, to, elementBytes)) {
      const name = formatSbp(step.to.sbp);
      const next = { layout: step.to, steps: [...node.steps, step], cost: node.cost + step.cost };
      const known = open.get(name);
      if (!closed.has(name) && (known === undefined || isBefore(next, known))) open.set(name, next);
    }
  }
}

/** Among equals collectives win over copies, which nobody joins or schedules as one; then fewer steps. */
function isBefore(a: Node, b: Node): boolean {
  const copies = (node: Node): number => node.steps.filter(({ kind }) => kind === "copies").length;
  if (a.cost !== b.cost) return a.cost < b.cost;
  return copies(a) - copies(b) < 0 || (copies(a) === copies(b) && a.steps.length < b.steps.length);
}

function stepsFrom(at: Layout, from: Layout, to: Layout, elementBytes: number): BoxingStep[] {
  const copies = copySlices(at, to, elementBytes);
  const steps: BoxingStep[] = copies === undefined ? [] : [copies];
  const axes = [...from.sbp, ...to.sbp].flatMap((sbp) => (sbp.kind === "split" ? [sbp.axis] : []));
  const candidates = [broadcast, ...[...new Set(axes)].map(split)];
  at.sbp.forEach((_sbp, dimension) => {
    const wanted = to.sbp[dimension]?.kind === "partial" ? [partial] : [];
    for (const sbp of [...candidates, ...wanted]) {
      const step = changeDimension(at, dimension, sbp, elementBytes);
      if (step !== undefined) steps.push(step);
    }
  });
  return steps;
}

function costOf(steps: readonly BoxingStep[]): number {
  return steps.reduce((sum, { cost }) => sum + cost, 0);
}
