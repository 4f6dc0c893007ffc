import { existsSync } from "node:fs";
import { join } from "node:path";
import { type OpenBackend, type PerfDevice, PerfError, ranksOf } from "@dfccl/collective-tests";
import { jsonLines, runProgram } from "../peers/run-program.js";
import type { EngineRequest } from "./engine-request.js";
import { openNative, ranksOn } from "./native-backend.js";
import { programArguments } from "./program-arguments.js";

export type GpuBackendName = "cuda" | "nccl";

export interface GpuRequest extends EngineRequest {
  /** GPU of rank 0. */
  readonly firstDevice: number;
}

/** What the native program says that there is. */
interface Found {
  readonly version: string;
  readonly driver: string;
  readonly devices: readonly (Pick<PerfDevice, "device" | "bus" | "name"> & { readonly memoryBytes: number })[];
}

/** What stands in the way. */
interface Obstacle {
  readonly error: string;
  readonly remedy: string;
}

// Numbers of blocks between which the engine chooses on a GPU (cuda/host/world/lanes.cpp).
const lanes = [1, 32];

/** This engine's daemons on GPUs, or NCCL: a GPU for each rank, all in one process, which stays for the whole run. */
export async function openGpu(
  name: GpuBackendName,
  { options, findPrograms, firstDevice, choices, engineArguments, signal }: GpuRequest,
): Promise<OpenBackend> {
  const missing = ({ error, remedy }: Obstacle): PerfError =>
    new PerfError("BACKEND_MISSING", `The backend ${name} is missing: ${error}`, remedy, { backend: name });
  const folder = await findPrograms("perf_gpu", signal);
  const command = join(folder, "perf_gpu");
  if (!existsSync(command)) {
    throw missing({
      error: `${folder} has no perf_gpu.`,
      remedy: "Unset DFCCL_PERF_PROGRAMS in a clone, or use the folder of npm run pack:gpu.",
    });
  }
  const [answer] = jsonLines(await runProgram({ command, args: ["--backend", name, "--probe", "yes"], signal })) as unknown as (
    | Found
    | Obstacle
  )[];
  if (answer === undefined) throw missing({ error: `${command} said nothing.`, remedy: "Run it by hand with --probe yes." });
  if ("error" in answer) throw missing(answer);
  const ranks = ranksOf(options);
  const used = answer.devices.slice(firstDevice, firstDevice + ranks);
  if (used.length < ranks) {
    throw new PerfError(
      "TOO_FEW_DEVICES",
      `Invalid number of GPUs: ${ranks} requested from GPU ${firstDevice} on, and there are ${answer.devices.length}.`,
      "Ask for fewer: -t, -g, NCCL_TESTS_DEVICE.",
    );
  }
  // All backends on GPUs keep their buffers until the end.
  const sharers = options.backend.filter((other) => other === "cuda" || other === "nccl").length;
  return openNative({
    name,
    version: answer.version,
    devices: ranksOn(used.map(({ device, bus, name: model }) => ({ device, bus: bus.toLowerCase().replace(/\.\d$/, ""), name: model }))),
    memoryBytes: Math.min(...used.map(({ memoryBytes }) => memoryBytes)) / sharers,
    command,
    args: ["--backend", name, "--device", String(firstDevice), ...engineArguments],
    prepare: name === "cuda" ? programArguments(lanes, choices) : () => [],
    probe: { driver: answer.driver },
    stays: true,
  });
}

/** How many of which, and their driver. */
export function describeGpus({ devices, machine }: OpenBackend): string {
  return `${devices.length} × ${devices[0]?.name ?? "GPU"}, driver ${String(machine.driver ?? "unknown")}`;
}
