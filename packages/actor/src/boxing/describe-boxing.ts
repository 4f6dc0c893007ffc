import { formatSbp } from "../sbp/sbp.js";
import type { Boxing, BoxingStep } from "./boxing.js";
import { readBoxing } from "./read-boxing.js";

/**
 * A boxing as text: a line for each step, with what it does, the signature after it, and its cost.
 * @throws {InvalidArgumentError}, PlacementError, ShapeError, SignatureError for what is no boxing.
 */
export function describeBoxing(boxing: Boxing): string {
  const { from, to, steps, cost } = readBoxing("boxing", boxing);
  const head = `[${from.shape.join(", ")}] ${formatSbp(from.sbp)} on ranks ${from.placement.ranks.join(", ")} → ${formatSbp(to.sbp)} on ranks ${to.placement.ranks.join(", ")}`;
  if (steps.length === 0) return `${head}\n  identity`;
  const lines = steps.map((step) => [describeStep(step), `→ ${formatSbp(step.to.sbp)}`, describeCost(step)] as const);
  const widths = [0, 1].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const rows = lines.map(([what, after, price]) => `  ${what.padEnd(widths[0] ?? 0)}  ${after.padEnd(widths[1] ?? 0)}  ${price}`);
  return [head, ...rows, ...(steps.length > 1 ? [`  together ${cost} bytes`] : [])].join("\n");
}

function describeStep(step: BoxingStep): string {
  if (step.kind === "copies") {
    const between = step.copies.filter(({ fromRank, toRank }) => fromRank !== toRank).length;
    const isAdding = step.from.sbp.some(({ kind }) => kind === "partial");
    return between === 0 ? "local copies" : `${between} slice copies between ranks${isAdding ? ", added" : ""}`;
  }
  const groups = step.groups.length === 1 ? "" : ` in ${step.groups.length} groups`;
  return `${step.isPacked ? "pack, " : ""}${step.collective} of ${step.groups[0]?.length ?? 0}${groups}${step.isUnpacked ? ", unpack" : ""}`;
}

function describeCost({ kind, cost }: BoxingStep): string {
  return kind === "copies" && cost === 1 ? "nothing moved" : `${cost} bytes`;
}
