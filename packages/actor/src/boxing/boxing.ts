import type { Box } from "../sbp/box.js";
import type { Layout } from "../sbp/layout.js";

/** A part of a tensor that one rank takes from another, or from itself. */
export interface SliceCopy {
  readonly fromRank: number;
  readonly toRank: number;
  readonly box: Box;
}

export type BoxingCollective = "all-reduce" | "reduce-scatter" | "all-gather" | "all-to-all" | "reduce" | "broadcast";

interface StepBase {
  readonly from: Layout;
  readonly to: Layout;
  /** By the formulas, which for copies is what they move. */
  readonly cost: number;
}

/** Every group runs one collective; members are ranks, in the group's order. */
export interface CollectiveStep extends StepBase {
  readonly kind: "collective";
  readonly collective: BoxingCollective;
  readonly groups: readonly (readonly number[])[];
  /** Which dimension of the hierarchy it goes along; 0 where a placement changes. */
  readonly dimension: number;
  /** Slices must be brought together before it, and taken apart after it. */
  readonly isPacked: boolean;
  readonly isUnpacked: boolean;
}

/** Parts are copied into zeros; where several ranks hold summands of a part, they are added, in this order. */
export interface CopyStep extends StepBase {
  readonly kind: "copies";
  readonly copies: readonly SliceCopy[];
}

export type BoxingStep = CollectiveStep | CopyStep;

/** How a tensor gets from one layout to another. No steps: it is there. */
export interface Boxing {
  readonly from: Layout;
  readonly to: Layout;
  readonly elementBytes: number;
  readonly steps: readonly BoxingStep[];
  readonly cost: number;
}
