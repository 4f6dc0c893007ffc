export { Batch, type BatchOptions, type CompletedRun } from "./batch.js";
export type { BlockCounters, RankCounters } from "./counters.js";
export {
  BufferError,
  ClosedError,
  CollectiveAbortedError,
  CollectiveTimeoutError,
  DeadlockError,
  EngineError,
  RegistrationMismatchError,
} from "./errors.js";
export { AddonNotLoadedError, type AddonAttempt } from "./native-addon/load-addon.js";
export type { DeadlockNode, DeadlockReport, MemberProgress } from "./native-addon/native-world.js";
export { type CollectiveOptions, type Rank, type RunRequest } from "./rank.js";
export type { CollectiveFacts, RegisteredCollective, RunOptions } from "./registered-collective.js";
export { openWorld, World, type WorldOptions } from "./world.js";
