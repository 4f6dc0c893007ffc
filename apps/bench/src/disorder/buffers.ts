import type { CollectiveBuffer } from "@dfccl/core";
import type { ExactData } from "./exact-data.js";

/** Memory of a workload on all ranks: inputs and what they sum up to, and an output for each tensor of each rank. */
export interface Buffers {
  readonly data: ExactData;
  /** `[rank][tensor]` */
  readonly outputs: readonly (readonly Float32Array[])[];
}

/** The buffers of one rank's run: input and output. */
export type Operands = (
  rank: number,
  tensor: number,
  iteration: number,
) => readonly [CollectiveBuffer | undefined, CollectiveBuffer | undefined];
