import { volumeOf, wholeBox } from "../sbp/box.js";
import type { Layout } from "../sbp/layout.js";
import type { NdSbp, Sbp } from "../sbp/sbp.js";
import type { BoxingStep } from "./boxing.js";

/** Partial on n to one of them, and one to n broadcast with it among them: a collective with a root. */
export function rootedStep(from: Layout, to: Layout, elementBytes: number): BoxingStep | undefined {
  const [source, target] = [from.placement.ranks, to.placement.ranks];
  const isAll = (sbp: NdSbp, kind: Sbp["kind"]): boolean => sbp.every((one) => one.kind === kind);
  const bytes = volumeOf(wholeBox(from.shape)) * elementBytes;
  const base = { kind: "collective", from, to, dimension: 0, isPacked: false, isUnpacked: false } as const;
  const [root = -1] = target;
  const [origin = -1] = source;
  if (isAll(from.sbp, "partial") && target.length === 1 && source.includes(root)) {
    return { ...base, collective: "reduce", groups: [rotated(source, root)], cost: bytes * (source.length - 1) };
  }
  if (source.length === 1 && isAll(to.sbp, "broadcast") && target.includes(origin)) {
    return { ...base, collective: "broadcast", groups: [rotated(target, origin)], cost: bytes * (target.length - 1) };
  }
  return undefined;
}

/** The same ranks with this one first: it is the root. */
function rotated(ranks: readonly number[], first: number): number[] {
  return [first, ...ranks.filter((rank) => rank !== first)];
}
