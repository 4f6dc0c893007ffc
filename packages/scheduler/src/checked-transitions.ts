// The pure functions as callers outside meet them; the models of this package call them bare, once or more a visit.
import { checkInteger, checkList, checkNumber, checkObject, InvalidArgumentError } from "@dfccl/primitives";
import * as failedPolls from "./failed-polls.js";
import * as order from "./order-policy.js";
import * as quit from "./quit-policy.js";
import * as scheduler from "./scheduler.js";
import * as stickiness from "./stickiness-policy.js";

const stateFields = [
  "length",
  "cursor",
  "untriedTurns",
  "unstuckTurns",
  "visitsSinceFetch",
  "visitsSinceProgress",
  "fetchedThisLap",
] as const satisfies readonly (keyof scheduler.ScheduleState)[];
const orderFields = ["fetchEveryVisits", "fetchWhenStuckVisits", "fetchBatch", "fetchesPerLap"] as const;
const stickinessFields = ["initialThreshold", "minimumThreshold", "maximumThreshold", "perPositionDecrement", "raiseFactor"] as const;
const eventKinds = ["fetched", "fetchedNothing", "idle", "stuck", "progressed", "completed", "preempted", "removed", "drain"];

export const started: typeof scheduler.started = (policy, length = 0, cursor = 0) => {
  checkPolicyParts(policy);
  checkInteger("length", length, 0);
  checkInteger("cursor", cursor, 0);
  return scheduler.started(policy, length, cursor);
};

export const isTriedAll: typeof scheduler.isTriedAll = (state) => {
  checkState(state);
  return scheduler.isTriedAll(state);
};

export const isAllStuck: typeof scheduler.isAllStuck = (state) => {
  checkState(state);
  return scheduler.isAllStuck(state);
};

export const wantsFetch: typeof scheduler.wantsFetch = (policy, state) => {
  checkPolicyParts(policy);
  checkState(state);
  return scheduler.wantsFetch(policy, state);
};

export const scheduleTransition: typeof scheduler.scheduleTransition = (policy, before, event) => {
  checkPolicyParts(policy);
  checkState(before);
  checkObject("event", event, 'an object such as { kind: "stuck" }');
  if (!eventKinds.includes(event.kind)) throw new InvalidArgumentError("event.kind", event.kind, `one of ${eventKinds.join(", ")}`);
  if (event.kind === "fetched" || event.kind === "removed") checkInteger("event.position", event.position, 0);
  return scheduler.scheduleTransition(policy, before, event);
};

export const afterFailedPolls: typeof failedPolls.afterFailedPolls = (policy, before, polls) => {
  checkPolicyParts(policy);
  checkState(before);
  checkInteger("polls", polls, 1);
  return failedPolls.afterFailedPolls(policy, before, polls);
};

export const shouldFetch: typeof order.shouldFetch = (policy, facts) => {
  checkOrder(policy);
  checkNumbers("facts", facts, ["queueLength", "visitsSinceFetch", "visitsSinceProgress", "fetchedThisLap"]);
  return order.shouldFetch(policy, facts);
};

export const insertPosition: typeof order.insertPosition = (policy, priorities, newPriority) => {
  checkOrder(policy);
  checkList("priorities", priorities, "a list with the priority of each task");
  for (const priority of priorities) checkNumber("a priority", priority);
  checkNumber("newPriority", newPriority);
  return order.insertPosition(policy, priorities, newPriority);
};

export const initialThreshold: typeof stickiness.initialThreshold = (policy, position) => {
  checkStickiness(policy);
  checkInteger("position", position, 0);
  return stickiness.initialThreshold(policy, position);
};

export const onPreempt: typeof stickiness.onPreempt = (policy, position) => {
  checkStickiness(policy);
  checkInteger("position", position, 0);
  return stickiness.onPreempt(policy, position);
};

export const onSuccess: typeof stickiness.onSuccess = (policy, threshold) => {
  checkStickiness(policy);
  checkNumber("threshold", threshold);
  return stickiness.onSuccess(policy, threshold);
};

export const startedAt: typeof quit.startedAt = (now) => {
  checkNumber("now", now);
  return quit.startedAt(now);
};

export const quitTransition: typeof quit.quitTransition = (policy, before, event) => {
  checkQuit(policy);
  checkNumbers("before", before, ["startedAt", "activeAt", "quietVisits"]);
  checkNumbers("event", event, ["now", "queueLength"]);
  return quit.quitTransition(policy, before, event);
};

function checkPolicyParts(policy: scheduler.SchedulePolicy): void {
  checkObject("policy", policy, "what policyByName() returns, or an object like it");
  checkOrder(policy.order);
  checkStickiness(policy.stickiness);
  checkQuit(policy.quit);
  checkNumber("streams", policy.streams);
}

// Types alone, which takes a few nanoseconds: checkPolicy() tells whether a policy makes sense.
function checkOrder(part: order.OrderPolicy): void {
  checkNumbers("order", part, orderFields);
}

function checkStickiness(part: stickiness.StickinessPolicy): void {
  checkNumbers("stickiness", part, stickinessFields);
}

function checkQuit(part: quit.QuitPolicy): void {
  checkNumbers("quit", part, ["idleVisits", "idleTicks", "residencyTicks"]);
}

function checkState(state: scheduler.ScheduleState): void {
  checkNumbers("state", state, stateFields);
  checkNumbers("state.current", state.current, ["threshold", "failures"]);
  if (state.urgent !== undefined) checkNumber("state.urgent", state.urgent);
}

function checkNumbers<Field extends string>(name: string, value: { readonly [F in Field]: number }, fields: readonly Field[]): void {
  if (typeof value !== "object" || value === null) throw new InvalidArgumentError(name, value, `an object with ${fields.join(", ")}`);
  for (const field of fields) {
    if (typeof value[field] !== "number") throw new InvalidArgumentError(`${name}.${field}`, value[field], "a number");
  }
}
