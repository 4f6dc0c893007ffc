import { openWorld } from "@dfccl/core";
import { DfcclError } from "@dfccl/primitives";
import { type PolicyName, policyNames, type SchedulePolicy } from "@dfccl/scheduler";
import { applyCandidate, loadTuning } from "@dfccl/scheduler/tuner";
import { machineFingerprint } from "./machine-fingerprint.js";
import { defaultTuningPath } from "./tuning-path.js";

type PreemptivePolicyName = Exclude<PolicyName, "in-order">;

const names = policyNames.filter((name): name is PreemptivePolicyName => name !== "in-order");

export const policyHelp = `scheduling policy: ${names.join(", ")}, tuned (what dfccl tune has found), or a file that it wrote`;

/** There is no such policy, or no tuning for this machine. */
export class PolicyError extends DfcclError {
  override readonly code = "POLICY";

  constructor(given: string, problem: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(`Policy ${given}: ${problem}.`, { facts: { given, problem, ...facts }, remedy });
  }
}

/**
 * A policy from the command line: a name, "tuned", or the path of a tuning file.
 * @throws {PolicyError}, TuningFileError
 */
export async function loadPolicy(given: string): Promise<PolicyName | SchedulePolicy> {
  const name = names.find((known) => known === given);
  if (name !== undefined) return name;
  const isFile = given.includes("/") || given.endsWith(".json");
  if (given !== "tuned" && !isFile) {
    throw new PolicyError(given, "there is none of that name", `Give one of ${names.join(", ")}, tuned, or a file that dfccl tune wrote.`);
  }
  const path = given === "tuned" ? defaultTuningPath() : given;
  const loaded = await loadTuning(path, machineFingerprint());
  if (loaded.ok) return applyCandidate(tunablePolicy(), loaded.tuning.best);
  if (loaded.reason === "missing") {
    throw new PolicyError(given, `there is no ${path}`, isFile ? "Look at the path." : "Run dfccl tune first; it takes a minute or two.");
  }
  throw new PolicyError(given, `${path} was measured on another machine`, "Run dfccl tune on this one.", { machine: loaded.machine });
}

/** The engine's default policy on this machine, with the quit period counted in visits alone, which is what is tuned. */
export function tunablePolicy(): SchedulePolicy {
  using world = openWorld({ ranks: 1, workers: 0 });
  const { policy } = world;
  return { ...policy, quit: { ...policy.quit, idleTicks: 0 } };
}
