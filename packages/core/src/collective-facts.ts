import type { Collective, DataType, ReduceOp } from "@dfccl/primitives";

/** What was registered, with defaults filled in. */
export interface CollectiveFacts {
  readonly id: number;
  readonly collective: Collective;
  readonly dataType: DataType;
  readonly op: ReduceOp;
  /** Elements of a segment. */
  readonly count: number;
  readonly root: number;
  readonly ranks: readonly number[];
  readonly priority: number;
}
