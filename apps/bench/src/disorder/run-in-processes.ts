import { joinWorld, type Launch } from "@dfccl/core";
import { withProgress } from "../terminal/progress.js";
import { mergeResults } from "./merge-results.js";
import { type DisorderOptions, type DisorderResult, runDisorder } from "./run-disorder.js";
import { makeOwnBuffers } from "./setting.js";

export interface ProcessOutcome {
  /** This process's rank. */
  readonly rank: number;
  /** Of all ranks. */
  readonly result: DisorderResult;
}

/** The same run with one rank a process: this process's part of it, in the world of all that the launcher has started. */
export async function runInProcesses(launch: Launch, options: Omit<DisorderOptions, "ranks">): Promise<ProcessOutcome> {
  const { workload, iterations, seed, policy = "default", backend = "cpu" } = options;
  await using rank = await joinWorld({ launch, policy, backend });
  const context = { world: rank.world, buffers: makeOwnBuffers(rank, workload, seed) };
  const run = (): Promise<DisorderResult> => runDisorder({ ...options, ranks: rank.size }, context);
  // One bar is enough.
  const own =
    rank.number === 0
      ? await withProgress("Preemptive", workload.tensors.length * iterations, (progress) =>
          runDisorder({ ...options, ranks: rank.size }, { ...context, progress }),
        )
      : await run();
  return { rank: rank.number, result: await mergeResults(rank, own) };
}
