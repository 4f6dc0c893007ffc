import { InvalidArgumentError } from "@dfccl/primitives";
import { type CollectiveName, nameOf } from "./component.js";
import type { DeadlockConfig } from "./config.js";
import { RoundSimulator } from "./simulate-round.js";

/** One GPU of a deadlock: it executes a collective, and what comes before it in the circle is invoked here and has to wait. */
export interface ExplainedGpu {
  readonly gpu: number;
  readonly executes: CollectiveName;
  readonly invoked: CollectiveName;
  /** The GPU that has to execute `executes` too, and doesn't. */
  readonly waitsFor: number;
}

export interface DeadlockExplanation {
  readonly round: number;
  readonly model: DeadlockConfig["model"];
  readonly cycle: readonly ExplainedGpu[];
}

/**
 * The cycle of a round that deadlocks.
 * @throws {InvalidArgumentError} if it doesn't.
 */
export function explainDeadlock(config: DeadlockConfig, seed: number, round: number): DeadlockExplanation {
  const found = new RoundSimulator(config, seed).simulate(round);
  if (found === undefined) throw new InvalidArgumentError("round", round, "a round that deadlocks");
  const { component, cycle, firstGpu } = found;
  const gpu = (local: number): number => firstGpu + (component.gpus[local] ?? 0);
  return {
    round,
    model: config.model,
    cycle: cycle.map((step, i) => {
      const before = cycle.at(i - 1) ?? step;
      const after = cycle[(i + 1) % cycle.length] ?? step;
      return {
        gpu: gpu(step.gpu),
        executes: nameOf(component, step.collective),
        invoked: nameOf(component, before.collective),
        waitsFor: gpu(after.gpu),
      };
    }),
  };
}

export function collectiveText({ group, index }: CollectiveName): string {
  return `${group} #${index}`;
}

/** A line for each GPU. */
export function explanationText({ round, model, cycle }: DeadlockExplanation): string {
  const behind = model === "synchronization" ? "behind a synchronization, until its own are successful" : "behind what it executes";
  return [
    `Deadlock in round ${round}:`,
    ...cycle.map(
      ({ gpu, executes, waitsFor }) =>
        `  GPU ${gpu} executes ${collectiveText(executes)}, and waits for GPU ${waitsFor}, which holds it ${behind};`,
    ),
    "  and so on, round in a circle.",
  ].join("\n");
}
