import { entryAt } from "./look-up.js";

/**
 * Reduction operators, in the order of their codes (`ReduceOp` in native/src/base/types.hpp).
 *
 * - `avg` adds, and divides by the number of ranks once, at the steps marked `finish`.
 * - `scaled-sum` multiplies each rank's input by that rank's own scalar before adding (NCCL's PreMulSum): whoever reads a
 *   rank's `input` buffer applies that rank's scalar, once.
 */
export const reduceOps = ["sum", "prod", "min", "max", "avg", "scaled-sum"] as const;

export type ReduceOp = (typeof reduceOps)[number];

export function isReduceOp(value: unknown): value is ReduceOp {
  return (reduceOps as readonly unknown[]).includes(value);
}

export function reduceOpCode(op: ReduceOp): number {
  return reduceOps.indexOf(op);
}

/** @throws {InvalidArgumentError} for a code that no operator has. */
export function reduceOpFromCode(code: number): ReduceOp {
  return entryAt(reduceOps, "reduce operator code", code);
}
