import type { DataType } from "./data-type.js";
import { entryAt } from "./look-up.js";

/**
 * Reduction operators, in the order of their codes (`ReduceOp` in native/src/base/types.hpp).
 *
 * - `avg` adds, and divides by the number of ranks once, at the steps marked `finish`.
 * - `scaled-sum` multiplies each rank's input by that rank's own scalar before adding (NCCL's PreMulSum): whoever reads a
 *   rank's `input` buffer applies that rank's scalar, once.
 * - `bit-and`, `bit-or` and `bit-xor` are defined for integer types alone (MPI's BAND, BOR and BXOR).
 */
export const reduceOps = ["sum", "prod", "min", "max", "avg", "scaled-sum", "bit-and", "bit-or", "bit-xor"] as const;

export type ReduceOp = (typeof reduceOps)[number];

export function isReduceOp(value: unknown): value is ReduceOp {
  return (reduceOps as readonly unknown[]).includes(value);
}

const ofBits: readonly ReduceOp[] = ["bit-and", "bit-or", "bit-xor"];
const integers: readonly DataType[] = ["int8", "uint8", "int32", "uint32", "int64", "uint64"];

/** Whether values of the type can be reduced by the operator: bits are those of integers. */
export function isDefinedFor(op: ReduceOp, dataType: DataType): boolean {
  return isReduceOp(op) && (!ofBits.includes(op) || integers.includes(dataType));
}

export function reduceOpCode(op: ReduceOp): number {
  return reduceOps.indexOf(op);
}

/** @throws {InvalidArgumentError} for a code that no operator has. */
export function reduceOpFromCode(code: number): ReduceOp {
  return entryAt(reduceOps, "reduce operator code", code);
}
