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
