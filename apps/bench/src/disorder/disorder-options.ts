import type { Backend, BackendChoice, World, WorldOptions } from "@dfccl/core";
import type { Progress } from "../terminal/progress.js";
import type { Workload } from "../workloads/workload-type.js";
import type { Buffers } from "./buffers.js";
import type { OrderOptions } from "./submission-order.js";

export interface DisorderOptions extends Omit<OrderOptions, "tensors"> {
  readonly workload: Workload;
  readonly iterations: number;
  /** Default "default". */
  readonly policy?: WorldOptions["policy"];
  /** Default "cpu". */
  readonly backend?: BackendChoice;
}

export interface RunContext {
  readonly progress?: Progress;
  /** Ends the run early; what it has then is its result, marked partial. */
  readonly signal?: AbortSignal;
  /** From an earlier run of the same options, which saves the time to make them. */
  readonly buffers?: Buffers;
  /** Run in this world, of which this process has one rank, instead of one made for it. With its own buffers. */
  readonly world?: World<Backend>;
}
