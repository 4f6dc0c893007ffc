import type { Placement } from "../sbp/placement.js";
import type { NdSbp } from "../sbp/sbp.js";

/** Numbers that an operation takes besides tensors, such as a factor. */
export type Attributes = Readonly<Record<string, number>>;

/** One operation of a logical graph: what is computed, as if there were one device. */
export interface LogicalOp {
  /** Names it and its result. */
  readonly name: string;
  /** What it does: a name among `opDefinitions`. */
  readonly op: string;
  /** Names of the operations whose results it takes. */
  readonly inputs?: readonly string[];
  readonly attributes?: Attributes;
  /** Where it runs. Default: where its first input lies. */
  readonly placement?: Placement;
  /** How its result is to lie. Default: whatever needs the fewest bytes moved for its inputs. */
  readonly sbp?: NdSbp;
  /** Of inputs and variables, which have no inputs to tell it. */
  readonly shape?: readonly number[];
  /** Stage of a pipeline, from 0 to 65,535, and direction: they say where buffers stand. Default: stage 0, forward. */
  readonly stage?: number;
  readonly pass?: "forward" | "backward";
}

/** Operations in any order; names make the edges. */
export type LogicalGraph = readonly LogicalOp[];
