export type { Actor } from "./actors/actor.js";
export { earliestTask, type PickActor } from "./actors/actor-thread.js";
export { type Bus, microtaskBus } from "./actors/bus.js";
export { ActorProtocolError, ActorsStuckError, KernelError, PlanError, type PlanErrorCode, type WaitingActor } from "./actors/errors.js";
export type { ActorMessage } from "./actors/message.js";
export type { Act, ActorPlan, Kernel, RegisterSpec, Rhythm, TaskSpec } from "./actors/plan.js";
export type { Register } from "./actors/register.js";
export { type ActorRun, type ActTrace, type RunActorsOptions, runActors } from "./actors/run-actors.js";
export { decodeTaskId, encodeTaskId, rankOf, type TaskId, type TaskPlace, threadOf } from "./actors/task-id.js";
export { VirtualClock } from "./actors/virtual-clock.js";
export { type Clock, systemClock } from "./clock.js";
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
export type { StaticOptions } from "./schedules/static-reducer.js";
export { inProcessTransports, type Transport } from "./schedules/transport.js";
