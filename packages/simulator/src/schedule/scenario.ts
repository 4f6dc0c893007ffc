import type { SchedulePolicy } from "@dfccl/scheduler";
import type { Topology } from "./topology.js";

/** A collective of a simulation: an all-reduce around a ring, 2 (n - 1) steps of bytes / n each. */
export interface SimulatedCollective {
  readonly bytes: number;
  readonly ranks: readonly number[];
  /** Larger is more urgent, under the priority policy. */
  readonly priority: number;
}

/** What a rank's host does, in order: an action begins at its time, or when the one before lets it. */
export interface HostAction {
  readonly atNs: number;
  /** Index of the collective to submit; undefined: a device synchronization, which ends when the daemon has left. */
  readonly collective?: number;
}

/** What things cost that aren't transfers. */
export interface DaemonCosts {
  /** One visit that finds nothing. */
  readonly pollNs: number;
  /** Of a step that does something, besides its transfer. */
  readonly stepNs: number;
  /** Save one context, load another. */
  readonly switchNs: number;
  /** From a quit to the next daemon's first visit. */
  readonly restartNs: number;
}

export interface ScheduleScenario {
  readonly topology: Topology;
  readonly costs: DaemonCosts;
  readonly policy: SchedulePolicy;
  readonly collectives: readonly SimulatedCollective[];
  /** `hosts[rank]`. */
  readonly hosts: readonly (readonly HostAction[])[];
}

/** Measured on H200, where a daemon polls device memory and a quit costs a launch. */
export const gpuCosts: DaemonCosts = { pollNs: 20, stepNs: 300, switchNs: 500, restartNs: 14_300 };
