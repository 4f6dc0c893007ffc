import { PerfError } from "./errors.js";
import type { BackendName, PerfOptions } from "./options.js";

interface Rule {
  readonly option: keyof PerfOptions;
  readonly backends: readonly BackendName[];
  readonly why: string;
  /** Refused when this says so; by default, when it is not 0. */
  readonly applies?: (options: PerfOptions) => boolean;
}

const withoutGpu: readonly BackendName[] = ["cpu", "mpi", "noop"];
const gpu: readonly BackendName[] = ["cuda", "nccl"];

const rules: readonly Rule[] = [
  { option: "stream_null", backends: withoutGpu, why: "it has no CUDA streams" },
  { option: "stream_null", backends: ["cuda"], why: "its runs are on no stream of the caller's" },
  { option: "stream_null", backends: ["nccl"], why: "each of its ranks has a stream here, also where one thread drives several" },
  { option: "cudagraph", backends: withoutGpu, why: "it has no CUDA graphs" },
  { option: "cudagraph", backends: ["cuda"], why: "its runs are on no stream that could be captured" },
  { option: "cudagraph", backends: ["nccl"], why: "the timed loop is the same for all backends, and captures nothing" },
  { option: "local_register", backends: [...withoutGpu, "cuda"], why: "it needs no registration of buffers" },
  { option: "local_register", backends: ["nccl"], why: "buffers here are of cudaMalloc, and not registered with it" },
  { option: "cta_policy", backends: [...withoutGpu, "cuda"], why: "it has no CTAs" },
  { option: "cta_policy", backends: ["nccl"], why: "its communicators are opened without a configuration; set NCCL_CTA_POLICY" },
  { option: "device_implementation", backends: [...withoutGpu, ...gpu], why: "it has no device API here" },
  { option: "device_cta_count", backends: [...withoutGpu, ...gpu], why: "it has no device API here" },
  { option: "memory", backends: ["mpi", "nccl", "noop"], why: "it doesn't tell what it allocates" },
  {
    option: "processes",
    backends: ["cpu", "cuda"],
    why: "it has all ranks in one process here",
    applies: ({ processes }) => processes > 1,
  },
  { option: "processes", backends: ["mpi"], why: "it has a process for each rank as it is", applies: ({ processes }) => processes > 1 },
  { option: "timeout", backends: ["noop"], why: "it never waits" },
  {
    option: "order",
    backends: ["mpi", "nccl"],
    why: "ranks that begin collectives in different orders deadlock there",
    applies: ({ order, concurrent }) => order === "random" && concurrent > 1,
  },
];

/**
 * Refuses what a backend can't do, rather than leaving it out.
 * @throws {PerfError} NOT_FOR_THIS_BACKEND with the reason.
 */
export function checkApplicability(options: PerfOptions): void {
  for (const backend of options.backend) {
    for (const { option, backends, why, applies } of rules) {
      if (!backends.includes(backend)) continue;
      if (applies ? !applies(options) : options[option] === 0) continue;
      throw new PerfError("NOT_FOR_THIS_BACKEND", `--${option} can't apply to the backend ${backend}: ${why}.`, `Leave --${option} out.`, {
        option,
        backend,
      });
    }
  }
}
