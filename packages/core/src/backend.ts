import type { DataType, TypedArrayOf } from "@dfccl/primitives";
import type { DeviceBuffer } from "./device-buffer.js";
import { callNative, typedError } from "./native-addon/native-error.js";
import type { NativeGpuReport } from "./native-addon/native-reports.js";
import { nativeAddon } from "./native-addon/native-world.js";

/** Where collectives execute: on threads of this process, or in daemons on NVIDIA GPUs. */
export type Backend = "cpu" | "cuda";
/** "auto" is "cuda" where a GPU can be used, else "cpu". */
export type BackendChoice = Backend | "auto";
export type ChosenBackend<Choice extends BackendChoice> = Choice extends Backend ? Choice : Backend;

/** What `rank.allocate` gives: memory that the rank's daemon reaches. */
export type BufferOf<B extends Backend, T extends DataType = DataType> = B extends "cuda" ? DeviceBuffer<T> : TypedArrayOf<T>;
/** What a run takes: views of the host's memory on a CPU, device memory on a GPU. */
export type CollectiveBuffer = ArrayBufferView | DeviceBuffer;

/** The GPUs of this machine, as the engine sees them. */
export interface GpuReport extends Omit<NativeGpuReport, "obstacle"> {
  /** Why no world opens on GPUs here: an {@link EngineError} UNAVAILABLE with its remedy; undefined where one does. */
  readonly obstacle: unknown;
}

/** What there is, and what stands in the way of using it. Never throws for lack of a GPU. */
export function reportGpus(): GpuReport {
  const { obstacle, ...report } = callNative(() => nativeAddon().gpus());
  return { ...report, obstacle: obstacle === null ? undefined : typedError(obstacle) };
}

/** @throws {EngineError} UNAVAILABLE with the reason, where GPUs are wanted and can't be used. */
export function chooseBackend(choice: BackendChoice): Backend {
  if (choice === "cpu") return "cpu";
  const { obstacle } = reportGpus();
  if (obstacle === undefined) return "cuda";
  if (choice === "cuda") throw obstacle;
  return "cpu";
}
