import { openWorld } from "@dfccl/core";
import type { SchedulePolicy } from "@dfccl/scheduler";
import { applyCandidate, type Measure } from "@dfccl/scheduler/tuner";
import { countWrong, runIteration } from "../disorder/iteration.js";
import { actionsOfAll } from "../disorder/run-disorder.js";
import { makeBuffers, prepare } from "../disorder/setting.js";
import type { Workload } from "../workloads/workload.js";

export interface TunedWork {
  readonly workload: Workload;
  readonly ranks: number;
  /** Measured ones; one more comes before them, to warm up. */
  readonly iterations: number;
  /** Probability of a device synchronization after each submission. */
  readonly sync: number;
  readonly seed: number;
}

/**
 * Measures a candidate by what the engine is for: random orders with synchronizations, the same ones for every candidate.
 * Each call opens a world of its own, so that no candidate finds what another left behind.
 * @throws {Error} where a result is wrong, because then its time says nothing.
 */
export function measureOrders(work: TunedWork, base: SchedulePolicy): Measure {
  const { workload, ranks, iterations, seed, sync } = work;
  const buffers = makeBuffers(workload, ranks, seed);
  const options = { workload, ranks, iterations, sync, seed, order: "random" } as const;
  const actions = Array.from({ length: iterations + 1 }, (_, iteration) => actionsOfAll(options, iteration));
  return async (candidate) => {
    using world = openWorld({ ranks, policy: applyCandidate(base, candidate) });
    const setting = await prepare(world, workload, buffers);
    const samples: { ns: number }[] = [];
    for (const [iteration, ofRanks] of actions.entries()) {
      const began = performance.now();
      const completions = await runIteration(setting, iteration, ofRanks);
      const ns = (performance.now() - began) * 1e6;
      const wrong = countWrong(setting, workload, iteration, completions);
      if (wrong > 0) throw new Error(`${wrong} results are wrong with ${JSON.stringify(candidate)}.`);
      if (iteration > 0) samples.push({ ns });
    }
    return samples;
  };
}
