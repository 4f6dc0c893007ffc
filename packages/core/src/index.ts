// What every error here is, and can be told by without another package.
export { DfcclError, InvalidArgumentError, UnknownOptionError } from "@dfccl/primitives";
export type { BatchOptions, CompletedRun, Rank, RegisteredCollective, RunOptions, RunRequest } from "./api.js";
export { type Backend, type BackendChoice, type BufferOf, type CollectiveBuffer, type GpuReport, reportGpus } from "./backend.js";
export { Batch } from "./batch.js";
export type { CollectiveFacts } from "./collective-facts.js";
export type { CollectiveOptions } from "./collective-options.js";
export type { BlockCounters, RankCounters } from "./counters.js";
export { DeviceBuffer, type HostElements } from "./device-buffer.js";
export {
  BufferError,
  ClosedError,
  CollectiveAbortedError,
  CollectiveTimeoutError,
  CountMismatchError,
  DeadlockError,
  EngineError,
  RankLostError,
  RegistrationMismatchError,
} from "./errors.js";
export type {
  BatchedCalls,
  BatchOfCallsOptions,
  CallOptions,
  Collectives,
  Counts,
  DisplacementsOption,
  Group,
  GroupOptions,
  InGroup,
  IntoOption,
  OpOption,
  Received,
  RootOption,
  Tag,
  UnevenOptions,
} from "./matching/group-api.js";
export { findNativeProgram, type ProgramLookup } from "./native-addon/find-native-program.js";
export { type AddonAttempt, AddonNotLoadedError } from "./native-addon/load-addon.js";
export type {
  DeadlockNode,
  DeadlockReport,
  GpuDevice,
  GpuLink,
  LostRank,
  MemberProgress,
  OtherCall,
} from "./native-addon/native-reports.js";
export { type FlightRecord, flightRecordOf } from "./processes/flight-record.js";
export { FlightRecordError } from "./processes/flight-recorder.js";
export { inspectWorlds, type WorldStatus } from "./processes/inspect-worlds.js";
export { describeTransport, type JoinOptions, joinWorld, type Launch, NotLaunchedError, readLaunch } from "./processes/join-world.js";
export type { JoinedRank } from "./processes/joined-rank.js";
export { makeFolder } from "./processes/make-folder.js";
export { writeFlightRecord } from "./processes/write-flight-record.js";
export { openWorld, World } from "./world.js";
export type { WorldOptions } from "./world-options.js";
