import type { Postcondition, Program, VerificationReport } from "@dfccl/primitives";
import type { Trace } from "./language/trace.js";
import type { BlockAssignment } from "./passes/assign-blocks.js";
import type { FusedGraph, FusedPair } from "./passes/fuse.js";
import type { InstructionGraph } from "./passes/instruction-graph.js";
import type { ReplicatedTrace } from "./passes/replicate.js";
import type { Placement } from "./passes/schedule.js";

/** What the compiler made on its way. */
export interface Stages {
  readonly trace: Trace;
  readonly replicated: ReplicatedTrace;
  readonly instructions: InstructionGraph;
  /** Without receives and sums that another instruction does on its way. */
  readonly simplified: InstructionGraph;
  readonly fused: FusedGraph;
  /** By message. */
  readonly channels: readonly number[];
  readonly blocks: BlockAssignment;
  /** Instructions in the order in which they were scheduled. */
  readonly order: readonly number[];
  readonly placements: readonly (Placement | undefined)[];
  /** Pairs that could have been fused and weren't, because the blocks' order would have made a circle. */
  readonly keptApart: readonly FusedPair[];
}

export interface CompiledProgram {
  readonly name: string;
  /** To be registered: `rank.register({ …, program })`. */
  readonly program: Program;
  /** What the outputs hold, about the program's chunks. */
  readonly postcondition: Postcondition;
  readonly report: VerificationReport;
  readonly stages: Stages;
}
