import os from "node:os";
import type { MachineFingerprint } from "@dfccl/scheduler/tuner";

/** What a tuning depends on: figures of another processor or of another number of cores say nothing here. */
export function machineFingerprint(): MachineFingerprint {
  return { cpu: os.cpus()[0]?.model.trim() ?? "unknown", cores: os.availableParallelism(), arch: os.arch() };
}
