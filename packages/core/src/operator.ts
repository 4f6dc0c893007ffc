import { type DataType, InvalidArgumentError, isDefinedFor, type ReduceOp } from "@dfccl/primitives";

/** @throws {InvalidArgumentError} where values of the type aren't reduced by the operator: the bits of a float. */
export function checkDefined(op: ReduceOp, dataType: DataType): void {
  if (!isDefinedFor(op, dataType)) {
    throw new InvalidArgumentError("op", op, `another operator for ${dataType}: only integers are reduced bit by bit`);
  }
}
