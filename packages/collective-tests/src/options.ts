import { checkNumber, checkObject, readArgument } from "@dfccl/primitives";
import type { CollectiveName } from "./collectives.js";
import type { OpName, TypeName } from "./type-names.js";

/** What a program was asked to do: nccl-tests' options, and those that only a preemptive library needs. */
export interface PerfOptions {
  readonly nthreads: number;
  readonly ngpus: number;
  readonly minbytes: number;
  readonly maxbytes: number;
  readonly stepbytes: number;
  readonly stepfactor: number;
  readonly iters: number;
  readonly agg_iters: number;
  readonly warmup_iters: number;
  readonly run_cycles: number;
  readonly parallel_init: number;
  readonly check: number;
  readonly op: readonly OpName[];
  readonly datatype: readonly TypeName[];
  readonly root: number;
  readonly blocking: number;
  readonly stream_null: number;
  readonly timeout: number;
  readonly cudagraph: number;
  readonly report_cputime: number;
  readonly report_timestamps: number;
  readonly output_file: string;
  readonly average: number;
  readonly local_register: number;
  readonly cta_policy: number;
  readonly device_implementation: number;
  readonly device_cta_count: number;
  readonly memory: number;
  readonly unalign: number;
  readonly per_iter_timing: number;
  readonly per_iter_skip: number;
  // ---- Not of nccl-tests ----
  readonly backend: readonly BackendName[];
  readonly order: "same" | "random";
  readonly concurrent: number;
  readonly processes: number;
  readonly delay: Delay | undefined;
  readonly seed: number;
}

/** One rank that begins late, every time. */
export interface Delay {
  readonly rank: number;
  readonly micros: number;
}

export const backendNames = ["cpu", "cuda", "nccl", "mpi", "noop"] as const;

export type BackendName = (typeof backendNames)[number];

/** Ranks of a run, in all processes. */
export function ranksOf(options: Pick<PerfOptions, "nthreads" | "ngpus"> & { readonly processes?: number }): number {
  checkObject("options", options, "an object such as { nthreads: 1, ngpus: 2 }");
  const {
    nthreads,
    ngpus,
    processes = 1,
  } = readArgument("options", "options that can be read", () => ({
    nthreads: options.nthreads,
    ngpus: options.ngpus,
    processes: options.processes,
  }));
  checkNumber("nthreads", nthreads);
  checkNumber("ngpus", ngpus);
  checkNumber("processes", processes);
  return nthreads * ngpus * processes;
}

/** A run: which program, and what it was asked to do. */
export interface PerfRun {
  readonly collective: CollectiveName;
  readonly options: PerfOptions;
  /** As typed, the program's name first. */
  readonly args: readonly string[];
}
