export { checkPolicy } from "./check-policy.js";
export { DaemonModel, type DaemonWork, type VisitOutcome } from "./daemon-model.js";
export { afterFailedPolls } from "./failed-polls.js";
export { type FetchFacts, insertPosition, type OrderKind, type OrderPolicy, shouldFetch } from "./order-policy.js";
export { type PolicyName, type PolicyOverrides, policyByName, policyNames } from "./policies.js";
export { decodePolicy, encodePolicy, POLICY_BYTES, policyOffsets } from "./policy-binary.js";
export {
  type QuitDecision,
  type QuitEvent,
  type QuitKind,
  type QuitPolicy,
  type QuitState,
  quitTransition,
  startedAt,
} from "./quit-policy.js";
export {
  isAllStuck,
  isTriedAll,
  type ScheduleDecision,
  type ScheduleEvent,
  type SchedulePolicy,
  type ScheduleState,
  scheduleTransition,
  started,
  type TaskSchedule,
  wantsFetch,
} from "./scheduler.js";
export {
  initialThreshold,
  onPreempt,
  onSuccess,
  type StickinessKind,
  type StickinessPolicy,
} from "./stickiness-policy.js";
