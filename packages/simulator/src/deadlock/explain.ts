import { checkInteger, checkList, checkObject, checkText, readPlain } from "@dfccl/primitives";
import { type CollectiveName, nameOf } from "./component.js";
import type { DeadlockConfig } from "./config.js";
import { findDeadlock } from "./find-deadlock.js";

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
  const found = findDeadlock(config, seed, round);
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

/** @returns a copy that can't change any more. @throws {InvalidArgumentError} */
export function readExplanation(given: DeadlockExplanation): DeadlockExplanation {
  checkObject("explanation", given, "what explainDeadlock() returns");
  const explanation = readPlain("explanation", given);
  checkInteger("explanation.round", explanation.round, 0);
  checkList("explanation.cycle", explanation.cycle, "what explainDeadlock() returns");
  explanation.cycle.forEach((step, i) => {
    const name = `explanation.cycle[${i}]`;
    checkObject(name, step, "an object with gpu, executes, invoked and waitsFor");
    for (const gpu of ["gpu", "waitsFor"] as const) checkInteger(`${name}.${gpu}`, step[gpu], 0);
    for (const part of ["executes", "invoked"] as const) {
      checkObject(`${name}.${part}`, step[part], "an object such as { group, index }");
      checkText(`${name}.${part}.group`, step[part].group, "a group's name");
      checkInteger(`${name}.${part}.index`, step[part].index, 0);
    }
  });
  return explanation;
}

/**
 * A line for each GPU.
 * @throws {InvalidArgumentError} for what isn't an explanation.
 */
export function explanationText(explanation: DeadlockExplanation): string {
  const { round, model, cycle } = readExplanation(explanation);
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
