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

const rules: readonly Rule[] = [
  { option: "stream_null", backends: withoutGpu, why: "it has no CUDA streams" },
  { option: "cudagraph", backends: withoutGpu, why: "it has no CUDA graphs" },
  { option: "local_register", backends: withoutGpu, why: "it needs no registration of buffers" },
  { option: "cta_policy", backends: withoutGpu, why: "it has no CTAs" },
  { option: "device_implementation", backends: withoutGpu, why: "it has no device API" },
  { option: "device_cta_count", backends: withoutGpu, why: "it has no device API" },
  { option: "memory", backends: ["mpi", "noop"], why: "it doesn't tell what it allocates" },
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
