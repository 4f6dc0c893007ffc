import type { PerfOptions, PerfRun } from "@dfccl/collective-tests";

/** The command line of the native loop. */
export function nativeArguments({ collective, options }: PerfRun, cycles: number): string[] {
  const { delay } = options;
  return [
    ["test", collective],
    ["threads", options.nthreads],
    ["ranks-per-thread", options.ngpus],
    ["processes", options.processes],
    ["iterations", options.iters],
    ["aggregated", options.agg_iters],
    ["warm-ups", options.warmup_iters],
    ["cycles", cycles],
    ["checks", options.check],
    ["blocking", blockingOf(options)],
    ["average", options.average],
    ["per-iteration", options.per_iter_timing],
    ["skipped", options.per_iter_skip],
    ["unaligned", options.unalign],
    ["concurrent", options.concurrent],
    ["order", options.order],
    ["seed", options.seed],
    ["timeout", options.timeout],
    ...(delay ? [["delay", `${delay.rank}:${delay.micros}`]] : []),
    ...(process.env.DFCCL_PERF_FAULT ? [["fault", process.env.DFCCL_PERF_FAULT]] : []),
  ].flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** 2 and 3 both wait for each operation without a barrier; they differ in how a CUDA stream is polled. */
function blockingOf({ blocking }: PerfOptions): number {
  return Math.min(blocking, 2);
}
