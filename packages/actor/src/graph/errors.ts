import { DfcclError } from "@dfccl/primitives";

export type GraphErrorCode =
  | "CYCLIC_GRAPH"
  | "UNKNOWN_OP"
  | "UNKNOWN_INPUT"
  | "DUPLICATE_NAME"
  | "NO_SIGNATURE"
  | "NOT_DIVISIBLE"
  | "RATE"
  | "REGISTER_COUNT"
  | "SHAPE";

/** A logical graph can't be compiled; found before anything starts. `facts.op` names where. */
export class GraphError extends DfcclError {
  override readonly code: GraphErrorCode;

  constructor(code: GraphErrorCode, op: string, problem: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(`Operation ${op} ${problem}.`, { facts: { op, ...facts }, remedy });
    this.code = code;
  }
}
