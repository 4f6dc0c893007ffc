import { isSameSbp, type Sbp } from "./sbp.js";

/** Of what moves nothing. */
export const localCost = 1;

export interface CostFacts {
  /** Bytes of the logical tensor. */
  readonly bytes: number;
  /** Devices that it comes from. */
  readonly from: number;
  /** Devices that it goes to. */
  readonly to: number;
  /** They are the same ones, in the same order. */
  readonly isSamePlacement: boolean;
}

/** What the exported function of this name says. */
export function boxingCost(from: Sbp, to: Sbp, { bytes, from: n, to: m, isSamePlacement }: CostFacts): number {
  if (isSamePlacement) {
    if (isSameSbp(from, to)) return 0;
    if (from.kind === "broadcast" || to.kind === "partial") return localCost;
    if (from.kind === "split" && to.kind === "split") return (bytes * (n - 1)) / n;
    return (from.kind === "partial" && to.kind === "broadcast" ? 2 : 1) * bytes * (n - 1);
  }
  const copies = 1 + (to.kind === "broadcast" ? m - 1 : 0) + (from.kind === "partial" ? n - 1 : 0);
  return copies * bytes;
}
