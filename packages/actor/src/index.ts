export type { Actor } from "./actors/actor.js";
export { earliestTask, type PickActor } from "./actors/actor-thread.js";
export { type Bus, microtaskBus } from "./actors/bus.js";
export { ActorProtocolError, ActorsStuckError, KernelError, PlanError, type PlanErrorCode, type WaitingActor } from "./actors/errors.js";
export type { ActorMessage } from "./actors/message.js";
export type { Act, ActorPlan, Kernel, Rhythm, TaskSpec } from "./actors/plan.js";
export type { Register } from "./actors/register.js";
export type { RegisterSpec } from "./actors/register-spec.js";
export { type ActorRun, runActors } from "./actors/run-actors.js";
export type { ActTrace, RunActorsOptions } from "./actors/run-options.js";
export { decodeTaskId, encodeTaskId, rankOf, type TaskId, type TaskPlace, threadOf } from "./actors/task-id.js";
export { VirtualClock } from "./actors/virtual-clock.js";
export type { Boxing, BoxingCollective, BoxingStep, CollectiveStep, CopyStep, SliceCopy } from "./boxing/boxing.js";
export { describeBoxing } from "./boxing/describe-boxing.js";
export { type InterpretedBoxing, interpretBoxing, type Parts } from "./boxing/interpret-boxing.js";
export { chooseBoxing } from "./boxing/public.js";
export { type Clock, systemClock } from "./clock.js";
export { type CollectiveLibrary, type CollectiveRun, type CollectiveSpec, coreCollectives } from "./graph/collectives.js";
export { type CompiledGraph, compileGraph } from "./graph/compile-graph.js";
export type { CompileOptions } from "./graph/compile-options.js";
export { GraphError, type GraphErrorCode } from "./graph/errors.js";
export type { Attributes, LogicalGraph, LogicalOp } from "./graph/logical-graph.js";
export { type CountEdge, type EdgeCounts, pipelineCounts } from "./graph/pipeline-counts.js";
export { type ResolvedOp, resolveGraph } from "./graph/resolve-graph.js";
export {
  gpipeCounts,
  leastCounts,
  oneFlowCounts,
  type PipelineCounts,
} from "./pipeline/counts.js";
export { type Pass, type PipelineOptions, simulatePipeline } from "./pipeline/simulate-pipeline.js";
export type { Box, Range } from "./sbp/box.js";
export type { CostFacts } from "./sbp/cost.js";
export { PlacementError, ShapeError, SignatureError } from "./sbp/errors.js";
export type { Layout } from "./sbp/layout.js";
export type { Placement } from "./sbp/placement.js";
export { boxingCost, boxOf, formatSbp, layout, placement, shapeOf, volumeOf } from "./sbp/public.js";
export { broadcast, type NdSbp, parseSbp, partial, type Sbp, split } from "./sbp/sbp.js";
export {
  type Communicator,
  type CoreCommunicatorOptions,
  coreCommunicator,
  type ReductionRequest,
  type RegisteredReduction,
} from "./schedules/communicator.js";
export type { CoordinatorMessage, CoordinatorOptions } from "./schedules/coordinator-reducer.js";
export { GradientError, IncompleteStepError } from "./schedules/errors.js";
export {
  type GradientReducer,
  type GradientTensor,
  type ReducerStatistics,
  type ScheduleName,
  scheduleNames,
} from "./schedules/gradient-reducer.js";
export { type MergeLimits, mergeGroups } from "./schedules/merge-groups.js";
export type { Negotiation } from "./schedules/negotiated-reducer.js";
export { openReducer, type ReducerOptions } from "./schedules/open-reducer.js";
export { type PlacedCollective, type SortedTask, type StaticPlan, staticPlan } from "./schedules/static-plan.js";
export type { StaticOptions } from "./schedules/static-reducer.js";
export { inProcessTransports, type Transport } from "./schedules/transport.js";
