export { checkPolicy } from "./check-policy.js";
export {
  afterFailedPolls,
  initialThreshold,
  insertPosition,
  isAllStuck,
  isTriedAll,
  onPreempt,
  onSuccess,
  quitTransition,
  scheduleTransition,
  shouldFetch,
  started,
  startedAt,
  wantsFetch,
} from "./checked-transitions.js";
export { DaemonModel, type DaemonWork, type VisitOutcome } from "./daemon-model.js";
export type { FetchFacts, OrderKind, OrderPolicy } from "./order-policy.js";
export { type PolicyName, type PolicyNumbers, type PolicyOverrides, policyByName, policyNames } from "./policies.js";
export { decodePolicy, encodePolicy, POLICY_BYTES, policyOffsets } from "./policy-binary.js";
export type { QuitDecision, QuitEvent, QuitKind, QuitPolicy, QuitState } from "./quit-policy.js";
export type { ScheduleDecision, ScheduleEvent, SchedulePolicy, ScheduleState, TaskSchedule } from "./scheduler.js";
export { simulationPolicy } from "./simulation-policy.js";
export type { StickinessKind, StickinessPolicy } from "./stickiness-policy.js";
