import { DeadlockError, openWorld } from "@dfccl/core";
import { noProgress } from "../terminal/progress.js";
import { checkRunContext, readDisorderOptions } from "./check-disorder.js";
import { type CycleMember, nameCycle } from "./deadlock-text.js";
import { runIteration } from "./iteration.js";
import { actionsOfAll, type DisorderOptions, type RunContext } from "./run-disorder.js";
import { makeBuffers, prepare } from "./setting.js";

export interface ControlResult {
  readonly deadlocked: boolean;
  /** Who waits for whom, as the engine's watchdog found it; empty without a deadlock. */
  readonly cycle: readonly CycleMember[];
  /** Runs that completed, over all ranks. */
  readonly completed: number;
  /** The run was interrupted before it completed or deadlocked. */
  readonly partial: boolean;
}

/** The same orders in a world that preempts nothing, one collective at a time on each rank, as NCCL runs a stream. @throws {InvalidArgumentError}, UnknownOptionError */
export async function runControl(given: DisorderOptions, context: RunContext = {}): Promise<ControlResult> {
  const options = readDisorderOptions(given);
  checkRunContext(context);
  const { workload, ranks, iterations } = options;
  const { progress = noProgress, signal } = context;
  using world = openWorld({ ranks, policy: "in-order", streams: 1 });
  const setting = await prepare(world, workload, context.buffers ?? makeBuffers(workload, ranks, options.seed));
  let completed = 0;
  try {
    for (let iteration = 0; iteration < iterations && !signal?.aborted; iteration += 1) {
      await runIteration(setting, iteration, actionsOfAll(options, iteration), {
        onComplete: () => {
          completed += 1;
          progress.update(completed, `iteration ${iteration + 1} of ${iterations}`);
        },
        ...(signal ? { signal } : {}),
      });
    }
  } catch (error) {
    if (!(error instanceof DeadlockError)) throw error;
    const names = workload.tensors.map(({ name }) => name);
    return { deadlocked: true, cycle: nameCycle(error.report.cycle, names), completed, partial: false };
  }
  return { deadlocked: false, cycle: [], completed, partial: signal?.aborted === true };
}
