import { checkObject, InvalidArgumentError } from "@dfccl/primitives";
import {
  decodePolicy,
  encodePolicy,
  type PolicyName,
  type PolicyOverrides,
  policyByName,
  policyNames,
  type SchedulePolicy,
} from "@dfccl/scheduler";
import { chooseBackend } from "./backend.js";
import { callNative } from "./native-addon/native-error.js";
import { type NativeDefaults, type NativeWorldOptions, nativeAddon, type Span } from "./native-addon/native-world.js";
import { type WorldOptions, worldOptionsExample } from "./world-options.js";

/** Options that are whole numbers, and the least that each may be. */
const numbers = {
  workers: 0,
  blocks: 1,
  submissionSlots: 1,
  completionSlots: 8,
  maxCollectives: 1,
  maxTasks: 1,
  arenaBytes: 0,
  slotPayloadBytes: 1,
  directTileBytes: 1,
} as const;

/**
 * Options as the engine takes them.
 * @throws {InvalidArgumentError}
 */
export function nativeOptions(
  options: WorldOptions,
  span: Span,
): { readonly options: NativeWorldOptions; readonly policy: SchedulePolicy } {
  checkObject("options", options, worldOptionsExample);
  const { ranks, devices, backend = "cpu" } = options;
  if (!Number.isInteger(ranks) || ranks < 1 || ranks > 1024) {
    throw new InvalidArgumentError("ranks", ranks, "a whole number from 1 to 1024");
  }
  if (!["cpu", "cuda", "auto"].includes(backend)) throw new InvalidArgumentError("backend", backend, '"cpu", "cuda" or "auto"');
  if (devices !== undefined && !(Array.isArray(devices) && devices.every((device) => Number.isInteger(device) && device >= 0))) {
    throw new InvalidArgumentError("devices", devices, "a list of GPUs, each a whole number from 0");
  }
  for (const [name, least] of Object.entries(numbers)) {
    const value = options[name as keyof typeof numbers];
    // How large each may be, the engine knows.
    if (value === undefined || (Number.isSafeInteger(value) && value >= least)) continue;
    throw new InvalidArgumentError(name, value, `a whole number from ${least}`);
  }
  const chosen = chooseBackend(backend);
  const { inOrderPolicy, ...defaults } = callNative(() => nativeAddon().defaultOptions(chosen, ranks, span));
  const policy = policyOf(options, { policy: defaults.policy, inOrderPolicy });
  const collectives = options.maxCollectives ?? defaults.collectives;
  return {
    policy,
    options: {
      backend: chosen,
      ...(devices === undefined ? {} : { devices: Int32Array.from(devices) }),
      ranks,
      grid: options.blocks ?? defaults.grid,
      submissionSlots: options.submissionSlots ?? defaults.submissionSlots,
      completionSlots: options.completionSlots ?? defaults.completionSlots,
      collectives,
      // On a GPU a table of a fixed size; see native/src/world/defaults.cpp.
      tasks: options.maxTasks ?? (chosen === "cuda" ? defaults.tasks : (collectives * defaults.tasks) / defaults.collectives),
      slotPayloadBytes: options.slotPayloadBytes ?? defaults.slotPayloadBytes,
      directTileBytes: options.directTileBytes ?? defaults.directTileBytes,
      arenaBytes: options.arenaBytes ?? defaults.arenaBytes,
      workers: options.workers ?? defaults.workers,
      policy: encodePolicy(policy),
    },
  };
}

function policyOf(
  { policy = "default", streams }: WorldOptions,
  defaults: Pick<NativeDefaults, "policy" | "inOrderPolicy">,
): SchedulePolicy {
  if (typeof policy !== "string") return policy;
  if (!policyNames.includes(policy)) {
    throw new InvalidArgumentError("policy", policy, `one of ${policyNames.join(", ")}, or plain data as policyByName() returns it`);
  }
  const inForce = decodePolicy(policy === "in-order" ? defaults.inOrderPolicy : defaults.policy);
  return policyByName(policy, { ...numbersOf(inForce, policy), ...(streams === undefined ? {} : { streams }) });
}

/** The engine's numbers, for a policy of another kind. What a lap may take in belongs to the order. */
function numbersOf({ order, stickiness, quit }: SchedulePolicy, name: PolicyName): PolicyOverrides {
  const { kind: _order, fetchesPerLap, ...fetching } = order;
  const { kind: _stickiness, ...thresholds } = stickiness;
  const { kind: _quit, ...limits } = quit;
  return { order: name === "priority" ? fetching : { fetchesPerLap, ...fetching }, stickiness: thresholds, quit: limits };
}
