import { existsSync } from "node:fs";
import { join } from "node:path";
import { inspectWorlds, type WorldStatus } from "@dfccl/core";
import type { Finding } from "./finding.js";

/** What decides how streams and daemons share a GPU (docs/gpus.md, "Streams"). */
export interface StreamFacts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether CUDA's multi-process service serves this user. */
  readonly hasMultiProcessService: boolean;
  /** Worlds of processes on this machine that can be looked into. */
  readonly worlds: readonly WorldStatus[];
}

export function streamFacts(env: NodeJS.ProcessEnv = process.env): StreamFacts {
  return {
    env,
    hasMultiProcessService: existsSync(join(env.CUDA_MPS_PIPE_DIRECTORY ?? "/tmp/nvidia-mps", "control")),
    worlds: residents(),
  };
}

function residents(): readonly WorldStatus[] {
  try {
    return inspectWorlds();
  } catch {
    return []; // A stopped process holds the lock of its world; `dfccl status` says so.
  }
}

export function streamFindings({ env, hasMultiProcessService, worlds }: StreamFacts): readonly Finding[] {
  return [
    { what: "module loading", state: "ok", detail: moduleLoading(env.CUDA_MODULE_LOADING) },
    hardwareQueues(env.CUDA_DEVICE_MAX_CONNECTIONS),
    {
      what: "GPU sharing",
      state: "ok",
      detail: hasMultiProcessService
        ? "multi-process service: the daemons of several processes run side by side"
        : "time slices: processes on one GPU run by turns; side by side with nvidia-cuda-mps-control -d",
    },
    memoryKinds(env.PYTORCH_CUDA_ALLOC_CONF ?? env.PYTORCH_ALLOC_CONF),
    { what: "resident", state: "ok", detail: describeResidents(worlds) },
  ];
}

/** What this engine's CUDA does unless it is told otherwise is to load lazily. */
function moduleLoading(mode: string | undefined): string {
  return mode?.toUpperCase() === "EAGER"
    ? "all kernels at the start (CUDA_MODULE_LOADING=EAGER)"
    : "each kernel at its first launch, which waits until the device is idle: daemons leave for it";
}

function hardwareQueues(setting: string | undefined): Finding {
  const what = "stream queues";
  const most = 32;
  const fewest = 4; // with which streams wait: cuda/host/rank/device_waits.cpp
  if (setting === undefined || setting === "") {
    return {
      what,
      state: "ok",
      detail: "32 where libdfccl or libnccl is loaded before CUDA begins, else 8; CUDA_DEVICE_MAX_CONNECTIONS=32 makes sure",
    };
  }
  const queues = Number(setting);
  if (!Number.isInteger(queues) || queues < 1 || queues > most) {
    return { what, state: "failed", detail: `CUDA_DEVICE_MAX_CONNECTIONS is "${setting}"`, remedy: `set it to 1 to ${most}, or unset it` };
  }
  return queues < fewest
    ? {
        what,
        state: "ok",
        detail: `${queues} (CUDA_DEVICE_MAX_CONNECTIONS): a stream that waits keeps others waiting, so the host waits in its place`,
        remedy: "unset CUDA_DEVICE_MAX_CONNECTIONS where nothing needs the order of few queues",
      }
    : { what, state: "ok", detail: `${queues} (CUDA_DEVICE_MAX_CONNECTIONS)` };
}

function memoryKinds(allocator: string | undefined): Finding {
  const direct = "memory of cudaMalloc is read by peers where it is, all other kinds through the connectors";
  const expandable = /expandable_segments\s*:\s*true/i.test(allocator ?? "");
  return {
    what: "memory kinds",
    state: "ok",
    detail: expandable ? `${direct}; PyTorch is told to use expandable segments, which are another kind` : direct,
    ...(expandable ? { remedy: "expandable_segments:False lets peers read PyTorch's buffers directly" } : {}),
  };
}

function describeResidents(worlds: readonly WorldStatus[]): string {
  if (worlds.length === 0) return "no job's ranks are on this machine";
  return worlds
    .map(({ job, ranks }) => {
      const here = ranks.filter(({ presence }) => presence === "joined");
      return `job ${job}: ${here.map(({ rank, pid }) => `rank ${rank} (process ${pid})`).join(", ") || "nobody is left"}`;
    })
    .join("; ");
}
