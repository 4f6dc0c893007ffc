import type { Collective, DataType, ReduceOp } from "@dfccl/primitives";

/** What was registered, with defaults filled in. */
export interface CollectiveFacts {
  readonly id: number;
  readonly collective: Collective;
  readonly dataType: DataType;
  readonly op: ReduceOp;
  /** Elements of a segment; with `countPerRun`, the most that a run may have. */
  readonly count: number;
  /** Whether each run brings its count. */
  readonly countPerRun: boolean;
  readonly root: number;
  readonly ranks: readonly number[];
  readonly priority: number;
}
