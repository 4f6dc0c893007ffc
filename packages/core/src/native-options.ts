import { checkInteger, checkObject, InvalidArgumentError, readArgument } from "@dfccl/primitives";
import { decodePolicy, encodePolicy, policyByName, policyNames, type SchedulePolicy } from "@dfccl/scheduler";
import { type Backend, chooseBackend } from "./backend.js";
import { callNative } from "./native-addon/native-error.js";
import { type NativeDefaults, type NativeWorldOptions, nativeAddon, type Span } from "./native-addon/native-world.js";
import { type WorldOptions, worldOptionsExample } from "./world-options.js";

// What an engine's tables hold: native/src/world/world_options.cpp, cuda/device/block/block_shared.cuh.
const mostCollectives: Readonly<Record<Backend, number>> = { cpu: 2 ** 20, cuda: 1024 };
const mostTasks: Readonly<Record<Backend, number>> = { cpu: 2 ** 24, cuda: 8192 };

/**
 * Options that are whole numbers, and the least that each may be. How large, the engine knows, and says; of those that it calls
 * by another name, it is said here.
 */
const numbers: Readonly<Record<string, readonly [least: number, most?: number]>> = {
  workers: [0],
  blocks: [1, 65],
  submissionSlots: [1],
  completionSlots: [8],
  maxCollectives: [1, mostCollectives.cpu],
  maxTasks: [1, mostTasks.cpu],
  arenaBytes: [0],
  slotPayloadBytes: [1],
  directTileBytes: [1],
} satisfies Partial<Record<keyof WorldOptions, readonly [number, number?]>>;

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
  checkInteger("ranks", ranks, 1, 1024);
  if (!["cpu", "cuda", "auto"].includes(backend)) throw new InvalidArgumentError("backend", backend, '"cpu", "cuda" or "auto"');
  const gpus = "a list of GPUs, each a whole number from 0";
  const isListOfGpus = () => Array.isArray(devices) && devices.every((device) => Number.isInteger(device) && device >= 0);
  if (devices !== undefined && !readArgument("devices", gpus, isListOfGpus)) throw new InvalidArgumentError("devices", devices, gpus);
  for (const [name, [least, most]] of Object.entries(numbers)) {
    const value = options[name as keyof WorldOptions];
    if (value !== undefined) checkInteger(name, value, least, most);
  }
  const chosen = chooseBackend(backend);
  const { inOrderPolicy, ...defaults } = callNative(() => nativeAddon().defaultOptions(chosen, ranks, span, options.maxCollectives));
  const policy = policyOf(options, { policy: defaults.policy, inOrderPolicy });
  const { collectives } = defaults;
  const tasks = options.maxTasks ?? defaults.tasks;
  checkInteger("maxCollectives", collectives, 1, mostCollectives[chosen]);
  checkInteger("maxTasks", tasks, 1, mostTasks[chosen]);
  if (tasks < collectives) {
    throw new InvalidArgumentError("maxTasks", tasks, `a whole number from maxCollectives, which is ${collectives}`);
  }
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
      tasks,
      slotPayloadBytes: options.slotPayloadBytes ?? defaults.slotPayloadBytes,
      directTileBytes: options.directTileBytes ?? defaults.directTileBytes,
      arenaBytes: options.arenaBytes ?? defaults.arenaBytes,
      workers: options.workers ?? defaults.workers,
      policy: readArgument("policy", "plain data as policyByName() returns it", () => encodePolicy(policy)),
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
  const numbers = decodePolicy(policy === "in-order" ? defaults.inOrderPolicy : defaults.policy);
  return policyByName(policy, numbers, streams === undefined ? {} : { streams });
}
